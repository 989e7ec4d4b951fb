from .claim_evidence import Evidence as Evidence
from .claims import all_claims as all_claims
from .claims import judge_all as judge_all
from .profile import PROFILES as PROFILES
from .profile import get_profile as get_profile
from .replication import replicate as replicate

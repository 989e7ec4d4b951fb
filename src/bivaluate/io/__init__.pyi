from .formats import describe_formats as describe_formats
from .matrices import read_matrix as read_matrix
from .matrices import write_matrix as write_matrix
from .matrices.h5ad import write_h5ad_results as write_h5ad_results
from .solutions import read_solution as read_solution
from .solutions import read_solutions as read_solutions
from .solutions import write_solution as write_solution

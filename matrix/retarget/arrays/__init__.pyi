from retarget.arrays.comparison import mismatches_of as mismatches_of
from retarget.arrays.datafiles import RawFile as RawFile
from retarget.arrays.datafiles import StoredArrays as StoredArrays
from retarget.arrays.dtypes import Elements as Elements
from retarget.arrays.dtypes import fit as fit

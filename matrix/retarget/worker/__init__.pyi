from retarget.worker.artifact import KeptFiles as KeptFiles
from retarget.worker.hosts import RemoteCalls as RemoteCalls
from retarget.worker.messages import CompiledModule as CompiledModule
from retarget.worker.messages import Refused as Refused
from retarget.worker.process import available_cores as available_cores
from retarget.worker.process import signal_name as signal_name
from retarget.worker.started import SpareWorker as SpareWorker

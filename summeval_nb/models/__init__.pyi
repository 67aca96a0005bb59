"""The public names of this part: one line a name, imported when first used."""

from .base import Backend as Backend
from .base import BackendError as BackendError
from .base import BackendRejected as BackendRejected
from .base import BackendUnavailable as BackendUnavailable
from .base import Choice as Choice
from .base import ContextTooLong as ContextTooLong
from .base import InvalidOutput as InvalidOutput
from .base import ScriptedBackend as ScriptedBackend
from .base import Usage as Usage
from .base import example_model as example_model
from .base import find_backends as find_backends
from .local import TransformersBackend as TransformersBackend
from .server import ServerBackend as ServerBackend
from .store import Store as Store
from .store import StoreError as StoreError
from .store import content_key as content_key

/**
 * What Python runs at the start of each process of a job that can be debugged: it stands before any `sitecustomize` of the machine, and
 * loads that, too.
 */
export const PYTHON_START = String.raw`
import os, sys

folder = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [each for each in sys.path if os.path.abspath(each) != folder]
if sys.version_info >= (3, 7):
    try:
        from importlib import util
        spec = util.spec_from_file_location("farwharf_debug", os.path.join(folder, "farwharf_debug.py"))
        module = util.module_from_spec(spec)
        spec.loader.exec_module(module)
    except Exception as error:
        sys.stderr.write("farwharf: no debugger can be attached to this process: %s\n" % (error,))
# The one that this stands before.
sys.modules.pop("sitecustomize", None)
try:
    import sitecustomize
except ImportError as error:
    if getattr(error, "name", "sitecustomize") != "sitecustomize":
        raise
`;

/**
 * Opens a process of Python for debuggers, with one socket in the folder that `FARWHARF_DEBUG` names, which only the job can enter. Until
 * somebody attaches, nothing is traced and debugpy is not loaded. A thread that fails reports to the runner over a connection, and waits
 * until that ends.
 */
export const PYTHON_DEBUGGING = String.raw`
"""Lets a debugger into this process, and holds the thread that fails until somebody has looked at it."""
import _thread, json, os, socket, sys

FOLDER = os.environ["FARWHARF_DEBUG"]
MAX_TEXT = 1000
MAX_MESSAGE = 64 * 2 ** 20
ANSWER_SECONDS = 5
# The number of the request that makes the debugger forget a client. No client counts this far.
DETACH = 2 ** 31 - 7

held = None
held_lock = _thread.allocate_lock()
session = None
session_lock = _thread.allocate_lock()
# The threads of this file, and how to start them without pydevd, which replaces the function.
own_threads, start_new_thread = set(), _thread.start_new_thread

def start_thread(function, *args):
    def run():
        own_threads.add(_thread.get_ident())
        try: function(*args)
        finally: own_threads.discard(_thread.get_ident())
    start_new_thread(run, ())

def hide_own_threads():
    """Keeps the threads of this file from the debugger, which finds them once it traces them."""
    import threading
    dummy = threading._DummyThread.__init__
    def __init__(self):
        dummy(self)
        if self.ident in own_threads:
            self.pydev_do_not_trace = self.is_pydev_daemon_thread = True
    threading._DummyThread.__init__ = __init__

class Held:
    """A thread that waits until the runner says that the job continues, or the user does in a debugger."""

    def __init__(self, stop):
        self.stop, self.runner = stop, socket.socket(socket.AF_UNIX)
        self.news = _thread.allocate_lock()
        self.news.acquire()
        self.is_over = self.is_wanted = self.is_closed = False
        self.work, self.worked = None, _thread.allocate_lock()
        self.runner.connect(os.path.join(FOLDER, "runner"))

    def want(self):
        """Called when a debugger is there to look at the thread."""
        self.is_wanted = True
        self.tell()

    def tell(self):
        try: self.news.release()
        except RuntimeError: pass

    def wait(self, report):
        self.runner.sendall(json.dumps(report).encode() + b"\n")
        start_thread(self.watch)
        while True:
            self.news.acquire()
            work, self.work = self.work, None
            if work is not None:
                work()
                self.worked.release()
            if self.is_over:
                return
            if self.is_wanted:
                self.is_wanted = False
                self.stop()
                if session is not None and session.is_attached():
                    return

    def do(self, work):
        """Runs something in the thread that waits, which may have begun to import what it imports."""
        self.worked.acquire()
        self.work = work
        self.tell()
        self.worked.acquire()

    def watch(self):
        try:
            while self.runner.recv(1024): pass
        except OSError: pass
        if self.is_closed:
            return # the thread may be stopped at the next breakpoint
        self.is_over = True
        self.tell()
        if session is not None:
            session.resume()

    def close(self):
        self.is_closed = True
        try: self.runner.shutdown(socket.SHUT_RDWR)
        except OSError: pass
        self.runner.close()

def hold(reason, place, error, message, stop):
    """Returns at once where the runner does not answer, and for all threads but the first."""
    global held
    with held_lock:
        if held is not None:
            return
        try: own = held = Held(stop)
        except OSError: return
    report = {"process": os.getpid(), "language": "python", "reason": reason, "file": place[0][-MAX_TEXT:], "line": place[1]}
    report.update(error=error[:200], message=message[:MAX_TEXT])
    for name in ("RANK", "SLURM_PROCID"):
        if os.environ.get(name, "").isdigit():
            report["rank"] = int(os.environ[name])
            break
    if session is not None and session.is_attached():
        own.want()
    try: own.wait(report)
    except OSError: pass
    finally:
        with held_lock: held = None
        own.close()

def place_among(lines):
    """Of files and lines, the innermost last: the innermost in a file of the job, or else the innermost of all."""
    root, found = os.path.join(os.environ.get("FARWHARF_DEBUG_ROOT", ""), ""), None
    for name, line in lines:
        file = os.path.abspath(name)
        is_own = file.startswith(root) and "site-packages" not in file
        if found is None or is_own or not found[2]:
            found = (file, line, is_own)
    return found[:2]

def lines_of(traceback):
    while traceback is not None:
        yield traceback.tb_frame.f_code.co_filename, traceback.tb_lineno
        traceback = traceback.tb_next

def lines_to(frame):
    lines = []
    while frame is not None:
        lines.append((frame.f_code.co_filename, frame.f_lineno))
        frame = frame.f_back
    return reversed(lines)

def fail(kind, value, traceback):
    if traceback is None or not isinstance(kind, type) or not issubclass(kind, Exception):
        return
    try: message = str(value)
    except Exception: message = ""
    failure = (kind, value, traceback)
    hold("failure", place_among(lines_of(traceback)), kind.__name__, message, lambda: session.stop_at_failure(failure))

def on_breakpoint(*args, **kwargs):
    frame = sys._getframe(1)
    if session is not None and session.is_attached():
        session.stop_at(frame)
    else:
        hold("breakpoint", (os.path.abspath(frame.f_code.co_filename), frame.f_lineno), "", "", lambda: session.stop_at(frame))

def on_limit(client):
    """Makes the main thread wait where it is, once it comes to its next line."""
    global limit_call
    client.close()
    import ctypes
    limit_call = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(wait_at_limit)
    ctypes.pythonapi.Py_AddPendingCall(limit_call, None)

def wait_at_limit(_):
    frame = sys._getframe(1)
    hold("limit", place_among(lines_to(frame)), "", "", lambda: session.stop_at(frame))
    return 0

class Session:
    """
    pydevd, which speaks the debug adapter protocol itself, at the far end of a pair of sockets. Nothing listens for it. The near end
    belongs to one client after the other.
    """

    def __init__(self):
        os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")
        import debugpy._vendored.force_pydevd
        import pydevd
        from _pydevd_bundle import pydevd_constants, pydevd_defaults
        from _pydevd_bundle.pydevd_dont_trace_files import DONT_TRACE, PYDEV_FILE
        DONT_TRACE[os.path.basename(__file__)] = PYDEV_FILE
        pydevd_defaults.PydevdCustomization.DEFAULT_PROTOCOL = pydevd_constants.HTTP_JSON_PROTOCOL
        self.near, far = socket.socketpair()
        self.answers = self.near.makefile("rb")
        self.is_broken = False
        hide_own_threads()
        connect, pydevd.start_client = pydevd.start_client, lambda host, port: far
        try:
            pydevd.settrace("127.0.0.1", port=1, suspend=False, wait_for_ready_to_run=False, patch_multiprocessing=False, notify_stdin=False)
        finally:
            pydevd.start_client = connect
        self.debugger = pydevd.get_global_debugger()

    def is_attached(self):
        return self.debugger.is_attached()

    def resume(self):
        from _pydevd_bundle.pydevd_api import PyDevdAPI
        PyDevdAPI().request_resume_thread("*")

    def stop_at_failure(self, failure):
        import threading
        from _pydevd_bundle.pydevd_additional_thread_info import set_additional_thread_info
        thread = threading.current_thread()
        kind, value, traceback = failure
        frames, top = {}, None
        while traceback is not None:
            frame = traceback.tb_frame
            frames[id(frame)] = frame
            if not self.debugger.apply_files_filter(frame, frame.f_code.co_filename, False):
                top = frame
            traceback = traceback.tb_next
        set_additional_thread_info(thread).pydev_message = kind.__name__
        self.debugger.do_stop_on_unhandled_exception(thread, top or frame, frames, failure)

    def stop_at(self, frame):
        import threading
        from _pydevd_bundle.pydevd_comm_constants import CMD_SET_BREAK
        thread = threading.current_thread()
        self.debugger.set_trace_for_frame_and_parents(frame)
        self.debugger.set_suspend(thread, CMD_SET_BREAK)
        self.debugger.do_wait_suspend(thread, frame, "line", None)

    def serve(self, client):
        """Carries one client until it has gone, and then makes the debugger forget it."""
        is_gone = _thread.allocate_lock()
        is_gone.acquire()
        start_thread(self.answer, client, is_gone)
        start_thread(self.announce, client)
        with client.makefile("rb") as requests:
            for message in messages(requests):
                self.near.sendall(framed(message))
        request = {"seq": DETACH, "type": "request", "command": "disconnect", "arguments": {"terminateDebuggee": False}}
        self.near.sendall(framed(json.dumps(request).encode()))
        if not is_gone.acquire(True, ANSWER_SECONDS):
            self.is_broken = True

    def answer(self, client, is_gone):
        for message in messages(self.answers):
            if str(DETACH).encode() in message and json.loads(message.decode()).get("request_seq") == DETACH:
                break
            try: client.sendall(framed(message))
            except OSError: pass
        else:
            self.is_broken = True
        is_gone.release()

    def announce(self, client):
        """Stops the thread that waits, once the client has set its breakpoints."""
        import time
        while not self.is_attached():
            if client.fileno() == -1:
                return
            time.sleep(0.02)
        if held is not None:
            held.want()

def framed(message):
    return b"Content-Length: %d\r\n\r\n" % len(message) + message

def messages(stream):
    """The complete messages of a stream with the framing of the debug adapter protocol, until it ends or breaks that."""
    try:
        while True:
            length = -1
            for line in iter(lambda: stream.readline(1024), b"\r\n"):
                if not line:
                    return
                name, _, value = line.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
            message = stream.read(length) if 0 <= length <= MAX_MESSAGE else None
            if message is None or len(message) < length:
                return
            yield message
    except (OSError, ValueError):
        return

def attach(client):
    global session
    with client:
        if not session_lock.acquire(False):
            return say(client, type="failed", code=16, message="A debugger is attached to this process already.")
        try:
            if session is None and held is not None:
                held.do(open_session)
            elif session is None:
                session = Session()
            if isinstance(session, ImportError):
                failure, session = session, None
                raise failure
            if session.is_broken:
                return say(client, type="failed", code=1, message="The debugger of this process does not respond any more.")
            say(client, type="attached", protocol="dap")
            session.serve(client)
        except ImportError:
            message = "debugpy is not installed for %s, which runs this job. Add it to the packages of the job, or run there: %s -m pip install debugpy"
            say(client, type="failed", code=127, message=message % (sys.executable, sys.executable))
        except OSError:
            pass # the client has gone
        finally:
            session_lock.release()

def open_session():
    global session
    try: session = Session()
    except ImportError as error: session = error

def say(client, **event):
    try: client.sendall(json.dumps(event).encode() + b"\n")
    except OSError: pass

def listen():
    listen_for("python", attach)
    if "FARWHARF_DEBUG_LIMIT" in os.environ:
        listen_for("limit", on_limit)

def listen_for(name, answer):
    path = os.path.join(FOLDER, "%d.%s" % (os.getpid(), name))
    try: os.unlink(path)
    except OSError: pass
    server = socket.socket(socket.AF_UNIX)
    server.bind(path)
    server.listen(4)
    def serve():
        while True:
            try: client = server.accept()[0]
            except OSError: return
            start_thread(answer, client)
    start_thread(serve)

def after_fork():
    global held, session, held_lock, session_lock
    held = session = None
    own_threads.clear()
    held_lock, session_lock = _thread.allocate_lock(), _thread.allocate_lock()
    listen()

def install():
    import threading, traceback
    listen()
    os.register_at_fork(after_in_child=after_fork)
    hook = sys.excepthook
    def excepthook(kind, value, trace):
        fail(kind, value, trace)
        hook(kind, value, trace)
    sys.excepthook = excepthook
    sys.breakpointhook = on_breakpoint
    if hasattr(threading, "excepthook"):
        thread_hook = threading.excepthook
        def thread_excepthook(args):
            fail(args.exc_type, args.exc_value, args.exc_traceback)
            thread_hook(args)
        threading.excepthook = thread_excepthook
    # Processes of multiprocessing print their failures themselves.
    print_exc = traceback.print_exc
    def print_failure(*args, **kwargs):
        code = sys._getframe(1).f_code
        if code.co_name == "_bootstrap" and os.path.basename(os.path.dirname(code.co_filename)) == "multiprocessing":
            fail(*sys.exc_info())
        print_exc(*args, **kwargs)
    traceback.print_exc = print_failure
    # For the first process only.
    if os.environ.pop("FARWHARF_DEBUG_WAIT", "") != "":
        hold("start", ("", 0), "", "", lambda: None)

install()
`;

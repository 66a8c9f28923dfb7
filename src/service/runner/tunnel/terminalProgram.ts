/** The descriptor on which the program reads the sizes of the terminal, a line of rows and columns each. */
export const SIZES_FD = 3;

/**
 * Runs a command in a terminal of its own, whose other side is standard input and output: Node.js has no terminals, and what other
 * packages bring is machine code for each system. Its arguments are the rows, the columns and the command. It exits as the command does,
 * or is killed by the same signal; signals go to the command in the foreground, and its own end hangs up the terminal.
 */
export const TERMINAL_PROGRAM = `
import fcntl, os, pty, select, signal, struct, sys, termios

def resize(master, rows, columns):
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

def write(fd, data):
    while data:
        data = data[os.write(fd, data):]

rows, columns, command = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
started, starting = os.pipe()
child, master = pty.fork()
if child == 0:
    os.close(started)
    for each in range(3, 10):
        if each != starting:
            try: os.close(each)
            except OSError: pass
    try:
        resize(0, rows, columns)
        os.execvp(command[0], command)
    except OSError as error:
        os.write(starting, str(error.errno).encode())
    os._exit(127)
os.close(starting)
failure = os.read(started, 16)
os.close(started)
if failure:
    os.waitpid(child, 0)
    number = int(failure)
    write(1, (command[0] + ": " + os.strerror(number) + "\\r\\n").encode("utf-8", "replace"))
    sys.exit(127 if number == 2 else 126)

def forward(number, frame):
    try: os.killpg(os.tcgetpgrp(master), number)
    except OSError: pass

for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2):
    signal.signal(number, forward)

typed, sizes, sources = b"", b"", [0, ${SIZES_FD}, master]
while master in sources:
    ready, writable, _ = select.select(sources, [master] if typed else [], [])
    if master in ready:
        try: shown = os.read(master, 65536)
        except OSError: shown = b""
        if not shown:
            break
        try: write(1, shown)
        except OSError:
            os.close(master)
            break
    if typed and master in writable:
        try: typed = typed[os.write(master, typed[:4096]):]
        except OSError: pass
        if not typed and 0 not in sources and not ended:
            sources.insert(0, 0)
    if 0 in ready:
        typed = os.read(0, 65536)
        ended = not typed
        if ended:
            typed = termios.tcgetattr(master)[6][termios.VEOF]
        sources.remove(0)
    if ${SIZES_FD} in ready:
        more = os.read(${SIZES_FD}, 4096)
        sizes += more
        *lines, sizes = sizes.split(b"\\n")
        for line in lines[-1:]:
            resize(master, *map(int, line.split()))
        if not more:
            sources.remove(${SIZES_FD})
# A command that has closed its terminal may be ending still, and its end must not look like a hang-up.
_, status = os.waitpid(child, 0)
if os.WIFSIGNALED(status):
    number = os.WTERMSIG(status)
    if number != signal.SIGKILL:
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
sys.exit(os.WEXITSTATUS(status))
`;

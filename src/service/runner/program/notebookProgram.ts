import { NOTEBOOK_REMEDY } from '../../../remote/protocol/notebookPackages.ts';

/**
 * The program that runs a notebook of Jupyter, for `python3 -c`. Its arguments are the path of the notebook, and parameters as
 * `NAME=VALUE`, which it sets after the cell with the tag `parameters`, as papermill does.
 *
 * It writes the output of each cell as the cell makes it, and the notebook with all outputs after each cell, so that a job that is ended
 * keeps those of the cells that ran. Lines with `farwharf:cell`, which are not shown, carry the outputs to an editor; see `LiveCells`. It needs nbclient and ipykernel, or a Jupyter on the search path that has them. Python 3.8 or newer.
 */
export const NOTEBOOK_PROGRAM = String.raw`
import sys
sys.path[:] = [entry for entry in sys.path if entry]  # no module of the job's folder takes the place of one below

import asyncio, hashlib, json, keyword, os, re, shutil, signal, time, warnings

SAVING_SHARE = 0.1
SECOND_ATTEMPT = 'FARWHARF_JUPYTER'

# Of the outputs that editors show while the job runs. All of them are in the executed notebook.
CHANGES = ('stream', 'display_data', 'execute_result', 'update_display_data', 'error', 'clear_output')
SHOWN_TYPES = ('image/png', 'image/jpeg', 'text/plain')
MOST_CELLS = 2_000
MOST_OUTPUTS = 50
TEXT_LENGTH = {True: 4_000, False: 30_000}  # while the cell runs, and afterwards
PICTURE_LENGTH = 400_000
LINE_LENGTH = 900_000
SHORTEST_PAUSE = 0.3
# Of a cell, in the log. A service stores so much of it only, which later cells need too.
MOST_LOGGED = 8_000_000
BYTES_PER_SECOND = 8_000
MOST_BYTES = {True: 12_000_000, False: 24_000_000}

path, assignments = sys.argv[1], sys.argv[2:]
name = os.path.basename(path)


def fail(message):
    print(message, file=sys.stderr, flush=True)
    sys.stdout.flush()
    os._exit(1)  # what nbclient does at the exit prints a traceback after this message


def use_jupyter(missing):
    """Starts again with the Python of the Jupyter on the search path."""
    source = getattr(sys, 'orig_argv', None)
    jupyter = shutil.which('jupyter') or shutil.which('jupyter-execute')
    if jupyter and source and SECOND_ATTEMPT not in os.environ:
        with open(jupyter, 'rb') as file:
            first = file.readline(1024).decode('utf-8', 'replace').strip()
        python = first[2:].split()[0] if re.match(r'#!\S*python[\d.]*$', first) else ''
        if os.path.isfile(python) and not os.path.samefile(python, sys.executable):
            os.environ[SECOND_ATTEMPT] = '1'
            os.execv(python, [python, *source[1:]])
    fail(f'{name} cannot be run, because {sys.executable} has no {missing}. '
         '${NOTEBOOK_REMEDY}')


try:
    import nbformat
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, DeadKernelError
    from jupyter_client.kernelspec import KernelSpecManager
except ImportError as error:
    use_jupyter(error.name)
os.environ.pop(SECOND_ATTEMPT, None)
os.environ.setdefault('PYDEVD_DISABLE_FILE_VALIDATION', '1')  # a warning of each kernel, which is not about the notebook
warnings.simplefilter('ignore')  # of nbformat, on notebooks that older programs wrote


def read_notebook():
    try:
        with open(path, encoding='utf-8-sig') as file:
            notebook = nbformat.reads(file.read(), as_version=4)
        for cell in notebook.cells:
            cell.metadata.get('tags'), cell.source, cell.cell_type
        return notebook
    except MemoryError:
        raise
    except Exception as error:
        fail(f'{name} is not a notebook of Jupyter, or it is damaged: {str(error)[:500]}')


def choose_kernel(notebook):
    spec = notebook.metadata.get('kernelspec', {})
    wanted = str(spec.get('name') or 'python3')
    kernels = KernelSpecManager().find_kernel_specs()
    if wanted in kernels:
        return wanted
    language = str(spec.get('language') or notebook.metadata.get('language_info', {}).get('name') or 'python')
    if language.lower() == 'python' and 'python3' in kernels:
        print(f'The kernel {wanted!r} of {name} is not on this machine. The Python of the job runs it instead.',
              file=sys.stderr, flush=True)
        return 'python3'
    if language.lower() == 'python':
        use_jupyter('ipykernel')
    fail(f'{name} needs the kernel {wanted!r} for {language}, which the machine that runs jobs does not have. '
         f'It has: {", ".join(sorted(kernels)) or "none"}. '
         'Choose one of them in the notebook, or add the kernel to the packages of the job, then submit again.')


def no_json(constant):
    raise ValueError(constant)


def value_of(text):
    try:
        return json.loads(text, parse_constant=no_json)
    except ValueError:
        return text


def has_tag(cell, tag):
    return tag in (cell.metadata.get('tags') or [])


def are_parameters(cell):
    return has_tag(cell, 'injected-parameters')


def is_executed(cell):
    return cell.cell_type == 'code' and cell.source.strip() and not has_tag(cell, 'skip-execution')


def set_parameters(notebook):
    """Adds a cell, in place of that of an earlier run."""
    if not assignments:
        return
    language = str(notebook.metadata.get('kernelspec', {}).get('language')
                   or notebook.metadata.get('language_info', {}).get('name') or 'python')
    if language.lower() != 'python':
        fail(f'{name} is a notebook for {language}. Parameters can be set in notebooks for Python only.')
    lines = []
    for assignment in assignments:
        variable, equals, text = assignment.partition('=')
        if not equals or not variable.isidentifier() or keyword.iskeyword(variable):
            fail(f'{assignment!r} is no parameter of a notebook. Write NAME=VALUE.')
        lines.append(f'{variable} = {value_of(text)!r}')
    notebook.cells = [cell for cell in notebook.cells if not are_parameters(cell)]
    tagged = [index for index, cell in enumerate(notebook.cells) if has_tag(cell, 'parameters')]
    cell = nbformat.v4.new_code_cell('\n'.join(lines), metadata={'tags': ['injected-parameters']})
    if (notebook.nbformat, notebook.nbformat_minor) < (4, 5):
        cell.pop('id', None)
    notebook.cells.insert(tagged[-1] + 1 if tagged else 0, cell)


class Line:
    """Whether the standard output is at the start of a line."""
    is_open = False


class Logged:
    """How many characters of the current cell are in the log."""
    count = 0


def within_log(text):
    before, Logged.count = Logged.count, Logged.count + len(text)
    if Logged.count <= MOST_LOGGED:
        return text
    if before > MOST_LOGGED:
        return ''
    return text[:MOST_LOGGED - before] + '\n[the rest of what this cell prints is in the notebook]\n'


def show(message):
    kind, content = message['msg_type'], message['content']
    stream = sys.stdout
    if kind == 'stream':
        stream = sys.stderr if content['name'] == 'stderr' else sys.stdout
        text = content['text']
    elif kind in ('display_data', 'execute_result', 'update_display_data'):
        text = str(content['data'].get('text/plain', '')) + '\n'
    elif kind == 'error':
        stream = sys.stderr
        text = '\n'.join(content['traceback']) + '\n'
    else:
        return
    if kind == 'stream':
        text = within_log(text)
    stream.write(text)
    stream.flush()
    if stream is sys.stdout and text:
        Line.is_open = not text.endswith('\n')


def show_line(text):
    print('\n' + text if Line.is_open else text, flush=True)
    Line.is_open = False


def cut(text, length):
    """The end of a text, or of a list of its pieces."""
    pieces, room = [], length + 1
    for piece in reversed([text] if isinstance(text, str) else text):
        pieces.append(piece[-room:])
        room -= len(pieces[-1])
        if room <= 0:
            break
    end = ''.join(reversed(pieces))
    return end if len(end) <= length else '[…]' + end[-length:]


def shown_output(output, length):
    kind = output.output_type
    if kind == 'stream':
        return {'output_type': kind, 'name': output.name, 'text': cut(output.text, length)}
    if kind == 'error':
        return {'output_type': kind, 'ename': cut(output.ename, 200), 'evalue': cut(output.evalue, 2_000),
                'traceback': cut('\n'.join(output.traceback), length)}
    data = {name: output.data[name] for name in SHOWN_TYPES if name in output.data}
    if 'text/plain' in data:
        data['text/plain'] = cut(data['text/plain'], length)
    for name in ('image/png', 'image/jpeg'):
        if name in data:
            data[name] = ''.join(data[name]).replace('\n', '')
            if len(data[name]) > PICTURE_LENGTH:
                data[name] = ''
    return {'output_type': 'display_data', 'data': data}


class LiveOutputs:
    """Writes what each cell shows so far, as often as that stays a small part of the log."""

    def __init__(self, cells):
        self.cells = cells[:MOST_CELLS]
        self.numbers = {id(cell): number for number, cell in enumerate(self.cells, 1)}
        self.timer = None
        self.sent = 0
        self.next_at = 0
        if len(cells) <= MOST_CELLS:
            self.write({'cells': [[cell.get('id'), self.hash_of(cell)] for cell in cells]})

    @staticmethod
    def hash_of(cell):
        source = cell.source.replace('\r\n', '\n').encode('utf-8', 'replace')
        return hashlib.sha256(source).hexdigest()[:16]

    def changed(self, cell):
        if self.timer is None and id(cell) in self.numbers:
            pause = max(SHORTEST_PAUSE, self.next_at - time.monotonic())
            self.timer = asyncio.get_running_loop().call_later(pause, self.update, cell)

    def update(self, cell):
        self.timer = None
        if Line.is_open:
            self.changed(cell)
        else:
            self.send(cell, 'running')

    def send(self, cell, state):
        number = self.numbers.get(id(cell))
        is_running = state == 'running'
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None
        if number is None or self.sent > MOST_BYTES[is_running]:
            return
        start = time.monotonic()
        joined = joined_streams(cell.outputs)
        outputs = [shown_output(output, TEXT_LENGTH[is_running]) for output in joined[-MOST_OUTPUTS:]]
        while outputs and len(json.dumps(outputs)) > LINE_LENGTH:
            outputs.pop(0)
        self.write({'cell': number, 'state': state, 'count': cell.execution_count, 'outputs': outputs,
                    'isCut': len(outputs) < len(joined)})
        self.next_at = max(self.next_at, time.monotonic() + (time.monotonic() - start) / SAVING_SHARE)

    def write(self, value):
        line = 'farwharf:cell ' + json.dumps(value, separators=(',', ':'))
        show_line(line)
        self.sent += len(line)
        self.next_at = time.monotonic() + len(line) / BYTES_PER_SECOND


def joined_streams(outputs):
    """Outputs in which what was written to one stream without anything between is one, as the editors of Jupyter write it."""
    joined = []
    for output in outputs:
        last = joined[-1] if joined else {}
        if output.output_type == 'stream' and last.get('output_type') == 'stream' and last['name'] == output.name:
            last['text'].append(output.text)
        elif output.output_type == 'stream':
            joined.append(nbformat.NotebookNode({**output, 'text': [output.text]}))
        else:
            joined.append(output)
    return joined


def with_joined_streams(notebook):
    copy = nbformat.from_dict(notebook)
    for cell in copy.cells:
        if cell.cell_type == 'code':
            cell.outputs = joined_streams(cell.outputs)
            for output in cell.outputs:
                if output.output_type == 'stream':
                    output.text = ''.join(output.text)
    return copy


class Execution(NotebookClient):
    """Executes a notebook, shows what its cells write, and saves their outputs."""

    def __init__(self, notebook, **options):
        super().__init__(notebook, **options)
        self.counted_cells = [cell for cell in notebook.cells if is_executed(cell) and not are_parameters(cell)]
        self.live = LiveOutputs(self.counted_cells)
        self.cell = 0
        self.saving_seconds = 0
        self.saved_at = time.monotonic()

    @property
    def place(self):
        return f'cell {self.cell} of {len(self.counted_cells)}'

    async def async_execute_cell(self, cell, *args, **options):
        if not is_executed(cell):
            return await super().async_execute_cell(cell, *args, **options)
        if are_parameters(cell):  # neither counted nor numbered, so that the numbers are those of the notebook without it
            return await super().async_execute_cell(cell, *args, **{**options, 'store_history': False, 'execution_count': None})
        self.cell += 1
        Logged.count = 0
        show_line(self.place)
        self.live.send(cell, 'running')
        try:
            # As the kernel counts, and names the cell in tracebacks.
            result = await super().async_execute_cell(cell, *args, **{**options, 'execution_count': self.cell})
            self.live.send(cell, 'failed' if any(output.output_type == 'error' for output in cell.outputs) else 'done')
            return result
        except (CellExecutionError, DeadKernelError):
            self.live.send(cell, 'failed')
            raise
        finally:
            # A notebook with large outputs takes a while to write.
            if time.monotonic() - self.saved_at > self.saving_seconds / SAVING_SHARE:
                self.save()

    def output(self, outs, msg, display_id, cell_index):
        result = super().output(outs, msg, display_id, cell_index)
        show(msg)
        return result

    def process_message(self, msg, cell, cell_index):
        result = super().process_message(msg, cell, cell_index)
        if msg['msg_type'] in CHANGES:
            self.live.changed(cell)
        return result

    def save(self):
        start = time.monotonic()
        partial = os.path.join(os.path.dirname(path), f'.{name}.partial')
        nbformat.write(with_joined_streams(self.nb), partial)
        shutil.copymode(path, partial)
        os.replace(partial, path)
        self.saved_at = time.monotonic()
        self.saving_seconds = self.saved_at - start


def main():
    notebook = read_notebook()
    kernel = choose_kernel(notebook)
    set_parameters(notebook)
    for cell in notebook.cells:
        if cell.cell_type == 'code':
            cell.outputs, cell.execution_count = [], None
    folder = os.path.dirname(path)
    execution = Execution(notebook, kernel_name=kernel, timeout=None, resources={'metadata': {'path': folder}})

    def stop(signal_number, frame):
        execution.save()
        os._exit(128 + signal_number)

    signal.signal(signal.SIGTERM, stop)
    try:
        execution.execute()
    except CellExecutionError as error:
        last = str(getattr(error, 'evalue', '')).strip().split('\n')[0]
        execution.save()
        fail(f'{execution.place} of {name} failed: {getattr(error, "ename", "error")}: {last}')
    except DeadKernelError:
        execution.save()
        fail(f'The kernel ended while {execution.place} of {name} ran. '
             'It does that if it needs more memory than there is, or if the cell ends it.')
    except Exception as error:  # of nbclient too, such as what it makes of widgets that it does not know
        execution.save()
        fail(f'{name} could not be run to its end: {type(error).__name__}: {error}')
    execution.save()


if sys.platform == 'win32':
    asyncio.set_event_loop_policy(asyncio.WindowsSelectorEventLoopPolicy())
main()
`;

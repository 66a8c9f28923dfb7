import * as path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { fieldOf, numberField, textField, tryParseJson } from '../../core/jsonFields.ts';
import { SerialQueue } from '../../core/processes/serialQueue.ts';
import { type DebugMessage, isObject } from './debugMessages.ts';
import { changeText, type JobSource, type JobSources, localLine, submittedLine } from './jobSources.ts';
import { mapLines, mapOfLines, type SourceMapFields } from './lineSourceMap.ts';

/** What a debugger may report. What else it says is about other things than this program's code. */
const EVENTS: ReadonlySet<string> = new Set([
  'Debugger.breakpointResolved',
  'Debugger.paused',
  'Debugger.resumed',
  'Debugger.scriptFailedToParse',
  'Debugger.scriptParsed',
  'HeapProfiler.addHeapSnapshotChunk',
  'HeapProfiler.reportHeapSnapshotProgress',
  'Runtime.consoleAPICalled',
  'Runtime.exceptionThrown',
  'Runtime.executionContextCreated',
  'Runtime.executionContextDestroyed',
  'Runtime.executionContextsCleared',
]);
const MAX_SCRIPTS = 100_000;
/** Of what is only in the job: no editor takes it for a file of this machine, or loads it. */
const JOB_SCHEME = 'farwharf-job:';

interface InspectorProxyOptions {
  readonly sources: JobSources;
  readonly sendToClient: (message: DebugMessage) => void;
  readonly sendToJob: (message: DebugMessage) => void;
  /** Shows a sentence to the user. */
  readonly onNotice: (text: string) => void;
}

/**
 * Stands between a client of the inspector protocol of V8 and the debugger of a
 * running job. Shows the client its own files in place of the job's: scripts of files that were not edited under their paths here, others
 * as they were submitted, with a source map that leads to the lines as they are now. What the job's side sends is not trusted: it
 * names no file outside of the folder that was submitted, and nothing that a client would load.
 */
export class InspectorProxy {
  readonly #options: InspectorProxyOptions;
  readonly #fromClient = new SerialQueue();
  readonly #fromJob = new SerialQueue();
  /** How scripts are shown to the client, by their IDs. */
  readonly #shown = new Map<string, string>();
  /** The job's URLs, by those that are shown. */
  readonly #jobUrls = new Map<string, string>();
  readonly #noticed = new Set<string>();
  #unset = 0;

  constructor(options: InspectorProxyOptions) {
    this.#options = options;
  }

  /** Passes on a message of the client. Resolves once that is done. */
  fromClient(message: DebugMessage): Promise<void> {
    return this.#fromClient.run(async () => {
      const { sendToJob } = this.#options;
      if (message['method'] !== 'Debugger.setBreakpointByUrl') return sendToJob(message);
      const params = await this.#breakpointInJob(message['params']);
      if (params !== undefined) return sendToJob({ ...message, params });
      this.#unset += 1;
      const result = { breakpointId: `${JOB_SCHEME}${this.#unset}`, locations: [] };
      this.#options.sendToClient({ id: message['id'], result });
    });
  }

  /** Passes on a message of the job's debugger. Resolves once that is done. */
  fromJob(message: DebugMessage): Promise<void> {
    return this.#fromJob.run(async () => {
      const { sendToClient } = this.#options;
      const { id, method, params, result, error } = message;
      if (typeof id === 'number') {
        return sendToClient({ id, ...(error === undefined ? { result: this.#withUrls(result ?? {}) } : { error }) });
      }
      if (typeof method !== 'string' || !EVENTS.has(method) || !isObject(params)) return;
      const isScript = method === 'Debugger.scriptParsed' || method === 'Debugger.scriptFailedToParse';
      sendToClient({ method, params: isScript ? await this.#showScript(params) : this.#withUrls(params) });
    });
  }

  async #showScript(params: DebugMessage): Promise<DebugMessage> {
    const [scriptId, jobUrl] = [textField(params, 'scriptId') ?? '', textField(params, 'url') ?? ''];
    const { url, sourceMapURL } = await this.#show(jobUrl, params);
    if (this.#shown.size < MAX_SCRIPTS) {
      this.#shown.set(scriptId, url);
      this.#jobUrls.set(url, jobUrl);
    }
    // Where a script says that its symbols are is loaded, too.
    const { debugSymbols: _1, embedderName: _2, ...others } = params;
    return { ...others, url, sourceMapURL, hasSourceURL: false };
  }

  async #show(jobUrl: string, params: DebugMessage): Promise<{ readonly url: string; readonly sourceMapURL: string }> {
    if (jobUrl === '' || jobUrl.startsWith('node:')) return { url: jobUrl, sourceMapURL: '' };
    const jobPath = pathOfUrl(jobUrl);
    const source = await this.#ofJob(jobPath);
    const map = await this.#readMap(jobPath, textField(params, 'sourceMapURL') ?? '');
    if (source !== undefined) this.#noticeChange(source);
    const isAsSubmitted = source !== undefined && (source.lines.type === 'same' || source.lines.type === 'unknown');
    const url = isAsSubmitted ? pathToFileURL(source.file).href : `${JOB_SCHEME}${encodeURI(jobPath)}`;
    if (map !== undefined) return { url, sourceMapURL: dataUrl(await this.#showMap(jobPath, map)) };
    if (source?.lines.type !== 'edited') return { url, sourceMapURL: '' };
    const count = (numberField(params, 'endLine') ?? 0) + 1;
    const file = pathToFileURL(source.file).href;
    return { url, sourceMapURL: dataUrl(mapOfLines(file, count, (line) => localLine(source, line))) };
  }

  /** A source map of the job, with the files and lines of this machine. */
  async #showMap(jobPath: string, map: SourceMapFields): Promise<SourceMapFields> {
    const found = await Promise.all(
      map.sources.map(async (name) => {
        const named = path.posix.resolve(path.posix.dirname(jobPath), map.sourceRoot ?? '', pathOfUrl(name));
        return { named, source: await this.#ofJob(named) };
      }),
    );
    for (const { source } of found) if (source !== undefined) this.#noticeChange(source);
    return {
      ...mapLines(map, (index, line) => {
        const source = found[index]?.source;
        return source === undefined ? line : localLine(source, line);
      }),
      sourceRoot: '',
      sources: found.map(({ named, source }) =>
        source === undefined ? `${JOB_SCHEME}${encodeURI(named)}` : pathToFileURL(source.file).href,
      ),
    };
  }

  /** Only what a script brings itself, or was submitted beside it: a client would load all else from any address. */
  async #readMap(jobPath: string, url: string): Promise<SourceMapFields | undefined> {
    const [, type = '', data] = /^data:([^,]*),(.*)$/s.exec(url) ?? [];
    if (data !== undefined) {
      return readSourceMap(type.endsWith(';base64') ? Buffer.from(data, 'base64').toString() : decoded(data));
    }
    if (url === '' || /^[a-z][\w+.-]*:/i.test(url)) return undefined;
    const source = await this.#ofJob(path.posix.resolve(path.posix.dirname(jobPath), decoded(url)));
    return source && readSourceMap(await this.#options.sources.localText(source));
  }

  /** Undefined for a line or file that the job does not have. */
  async #breakpointInJob(params: unknown): Promise<DebugMessage | undefined> {
    if (!isObject(params)) return undefined;
    const [url, pattern] = [textField(params, 'url'), textField(params, 'urlRegex')];
    const { urlRegex: _, ...others } = params;
    const known = url === undefined ? undefined : this.#jobUrls.get(url);
    const isJobUrl = url?.startsWith(JOB_SCHEME) === true || url?.startsWith('node:') === true;
    if (isJobUrl) return { ...others, url: known ?? url };
    const file = await this.#fileOf(url, pattern);
    const source = file === undefined ? undefined : await this.#options.sources.ofFile(file, noText);
    const line = source && submittedLine(source, (numberField(params, 'lineNumber') ?? 0) + 1);
    if (source === undefined || line === undefined) return undefined;
    return { ...others, url: pathToFileURL(source.jobPath).href, lineNumber: line - 1 };
  }

  async #fileOf(url: string | undefined, pattern: string | undefined): Promise<string | undefined> {
    if (url !== undefined) return url.startsWith('file:') ? fileURLToPath(url) : undefined;
    if (pattern === undefined) return undefined;
    const wanted = new RegExp(pattern);
    const files = await this.#options.sources.files();
    return files.find((file) => wanted.test(pathToFileURL(file).href) || wanted.test(file));
  }

  async #ofJob(jobPath: string): Promise<JobSource | undefined> {
    return (await this.#options.sources.ofJob([jobPath], noText)).get(jobPath);
  }

  /** A value in which places in scripts have the URLs that are shown. */
  #withUrls(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((each) => this.#withUrls(each));
    if (!isObject(value)) return value;
    const mapped = Object.entries(value).map(([name, field]) => [name, this.#withUrls(field)] as const);
    const scriptId = textField(value, 'scriptId');
    if (scriptId === undefined || typeof value['url'] !== 'string') return Object.fromEntries(mapped);
    return { ...Object.fromEntries(mapped), url: this.#shown.get(scriptId) ?? '' };
  }

  /** Says once of each file how it differs from what runs. */
  #noticeChange({ path: name, lines }: JobSource): void {
    if (lines.type === 'same' || this.#noticed.has(name)) return;
    this.#noticed.add(name);
    this.#options.onNotice(changeText(name, lines.type));
  }
}

function noText(): Promise<undefined> {
  return Promise.resolve(undefined);
}

/** The path in a job of a script, which it can name as it likes. */
function pathOfUrl(url: string): string {
  if (!url.startsWith('file://')) return url;
  return decoded(url.slice('file://'.length));
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function readSourceMap(text: string | undefined): SourceMapFields | undefined {
  const value = text === undefined ? undefined : tryParseJson(text);
  const [mappings, sources] = [textField(value, 'mappings'), fieldOf(value, 'sources')];
  if (mappings === undefined || !Array.isArray(sources)) return undefined;
  const sourceRoot = textField(value, 'sourceRoot');
  const names: unknown = fieldOf(value, 'names');
  return {
    version: 3,
    sources: sources.map(String),
    names: Array.isArray(names) ? names.map(String) : [],
    mappings,
    ...(sourceRoot !== undefined && { sourceRoot: pathOfUrl(sourceRoot) }),
  };
}

function dataUrl(map: SourceMapFields): string {
  return `data:application/json;base64,${Buffer.from(JSON.stringify(map)).toString('base64')}`;
}

import { AppError } from '../../../core/errors.ts';
import type { HostedRun, RunHost, StartingRun } from '../../../agents/run/runHost.ts';
import { HostedFlow, type HostParts } from './hostedFlow.ts';
import type { ChildRequest } from '../protocol/runMessage.ts';

/** Hosts the runs of a flow file: emits their events, stores their results, and replays earlier ones. */
export class FlowHost implements RunHost {
  readonly #parts: HostParts;
  readonly modelKey: RunHost['modelKey'];
  #begun = 0;
  #hasBegunWanted = false;
  #active = 0;
  /** Whether runs that start now are started by the file itself. */
  isFileRunning = false;

  constructor(parts: HostParts) {
    this.#parts = parts;
    this.modelKey = parts.modelKey;
  }

  /** How many runs have started. */
  get begun(): number {
    return this.#begun;
  }

  get isActive(): boolean {
    return this.#active > 0;
  }

  begin({ name, shared, options, isInner }: StartingRun): HostedRun {
    const { request, stop } = this.#parts;
    stop.throwIfAborted();
    const isWanted = !this.isFileRunning || isWantedFlow(request, name);
    // If the file runs the requested flow itself, its other runs belong to that run.
    if (this.isFileRunning && !isWanted && request.flowName === undefined) {
      throw new AppError(
        'bad-input',
        `The file runs the flow "${name}" itself when it is loaded, so "${request.flow}" cannot be chosen. ` +
          'Move that run into `if (import.meta.main) { … }`, and export the flows.',
      );
    }
    this.#begun += 1;
    this.#active += 1;
    const isFirst = isWanted && !this.#hasBegunWanted;
    this.#hasBegunWanted ||= isWanted;
    if (isFirst && this.isFileRunning && request.shared !== undefined && isObject(shared)) {
      setKeys(shared, request.shared);
    }
    const { resume, input } = isFirst && request.resume !== undefined ? request : options;
    const hosted = { name, shared, options: { ...options, resume, input }, isInner };
    const parts = { ...this.#parts, visited: isFirst ? this.#parts.visited : undefined };
    return new HostedFlow(parts, this.#begun, hosted, () => {
      this.#active -= 1;
    });
  }
}

/** Sets keys as an assignment does, but `__proto__` as a key like the others, where that would change the prototype. */
function setKeys(shared: object, values: Readonly<Record<string, unknown>>): void {
  for (const [key, value] of Object.entries(values)) {
    if (key !== '__proto__') Object.assign(shared, { [key]: value });
    else Object.defineProperty(shared, key, { value, writable: true, enumerable: true, configurable: true });
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** Whether a run that starts is the requested one; without a request, each is. */
function isWantedFlow({ flow, flowName }: ChildRequest, name: string): boolean {
  return flow === undefined || name === flowName || name.toLowerCase() === flow.toLowerCase();
}

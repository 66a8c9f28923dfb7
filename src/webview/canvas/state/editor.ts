import type { ToCanvas } from './canvasMessages.ts';
import type { FromCanvas } from './requests.ts';

/** What VS Code stores of the page while it is reloaded; it passes `document` to the code that restores the page. */
interface PageState {
  readonly document?: string | undefined;
  readonly draft?: Draft | undefined;
}

/** An answer that was typed and not sent. */
interface Draft {
  readonly run: string;
  readonly text: string;
}

interface VsCodeApi {
  postMessage(message: FromCanvas): void;
  getState(): PageState | undefined;
  setState(state: PageState): void;
}

// The only global that VS Code adds to a webview. It can be called once.
declare const acquireVsCodeApi: () => VsCodeApi;

/** The extension, as the page sees it. */
export class Host {
  readonly #api = acquireVsCodeApi();

  send(message: FromCanvas): void {
    this.#api.postMessage(message);
  }

  get draft(): Draft | undefined {
    return this.#api.getState()?.draft;
  }

  set draft(draft: Draft | undefined) {
    this.#api.setState({ ...this.#api.getState(), draft });
  }

  /** VS Code's messages come from the frame around the page; nothing else can send any. */
  listen(listener: (message: ToCanvas) => void): void {
    window.addEventListener('message', ({ data }: MessageEvent<ToCanvas>) => {
      if (data.type === 'graph' && data.document !== undefined) {
        this.#api.setState({ ...this.#api.getState(), document: data.document });
      }
      listener(data);
    });
  }
}

import type { FromCanvas, ToCanvas } from './messages.ts';

interface VsCodeApi {
  postMessage(message: FromCanvas): void;
  setState(state: { readonly document: string }): void;
}

// The only name that VS Code puts into a webview. It may be asked for once.
declare const acquireVsCodeApi: () => VsCodeApi;

/** The extension, as the page sees it. */
export class Host {
  readonly #api = acquireVsCodeApi();

  send(message: FromCanvas): void {
    this.#api.postMessage(message);
  }

  /** VS Code's messages come from the frame around the page; nobody else can send any. */
  listen(listener: (message: ToCanvas) => void): void {
    window.addEventListener('message', ({ data }: MessageEvent<ToCanvas>) => {
      // VS Code keeps this for a window that is loaded again, and gives it to whoever makes the page then.
      if (data.type === 'graph' && data.document !== undefined) this.#api.setState({ document: data.document });
      listener(data);
    });
  }
}

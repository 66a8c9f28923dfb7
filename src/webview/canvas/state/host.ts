import type { ToCanvas } from './messages.ts';
import type { FromCanvas } from './requests.ts';

interface VsCodeApi {
  postMessage(message: FromCanvas): void;
  setState(state: { readonly document: string }): void;
}

// The only global that VS Code adds to a webview. It can be called once.
declare const acquireVsCodeApi: () => VsCodeApi;

/** The extension, as the page sees it. */
export class Host {
  readonly #api = acquireVsCodeApi();

  send(message: FromCanvas): void {
    this.#api.postMessage(message);
  }

  /** VS Code's messages come from the frame around the page; nothing else can send any. */
  listen(listener: (message: ToCanvas) => void): void {
    window.addEventListener('message', ({ data }: MessageEvent<ToCanvas>) => {
      // VS Code stores this for a reloaded window, and passes it to the code that restores the page.
      if (data.type === 'graph' && data.document !== undefined) this.#api.setState({ document: data.document });
      listener(data);
    });
  }
}

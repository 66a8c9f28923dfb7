/** A browser without a window: follows redirects, keeps cookies, and fills in the forms of a page. */
export class Browser {
  readonly #cookies = new Map<string, string>();

  /** Signs in on the pages of the provider, from a page of it to the address or the page that it ends with. */
  async signIn(url: string, login: string): Promise<string> {
    let page = await this.#open(url);
    for (let step = 0; step < 12; step += 1) {
      if (page.isLeft) return page.url;
      const form = formOf(page.text);
      if (form === undefined) return page.text;
      const values = { ...form.values, ...('login' in form.values && { login, password: 'any' }) };
      page = await this.#open(new URL(form.action, page.url).href, new URLSearchParams(values));
    }
    throw new Error(`the provider asks without end: ${page.text.slice(0, 500)}`);
  }

  async #open(url: string, body?: URLSearchParams): Promise<Page> {
    let [next, sent] = [url, body];
    const { origin } = new URL(url);
    for (;;) {
      const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const method = sent === undefined ? 'GET' : 'POST';
      const response = await fetch(next, {
        method,
        redirect: 'manual',
        headers: { cookie, accept: 'text/html' },
        body: sent ?? null,
      });
      for (const line of response.headers.getSetCookie()) this.#keep(line);
      const location = response.headers.get('location');
      if (location === null) return { url: next, text: await response.text(), isLeft: false };
      await response.body?.cancel();
      next = new URL(location, next).href;
      sent = undefined;
      if (new URL(next).origin !== origin) return { url: next, text: '', isLeft: true };
    }
  }

  #keep(line: string): void {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    if (value === '') this.#cookies.delete(name);
    else this.#cookies.set(name, value);
  }
}

interface Page {
  readonly url: string;
  readonly text: string;
  /** Whether it is of another origin, which was not opened. */
  readonly isLeft: boolean;
}

/** The first form of a page: where it is sent, and the values of its fields. */
function formOf(html: string): { readonly action: string; readonly values: Record<string, string> } | undefined {
  const [form = ''] = /<form[\s\S]*?<\/form>/.exec(html) ?? [];
  const action = /\baction="([^"]*)"/.exec(form)?.[1];
  if (action === undefined) return undefined;
  const inputs = [...form.matchAll(/<input\b[^>]*>/g)].map(([input]) => {
    const attribute = (name: string): string => new RegExp(`\\b${name}="([^"]*)"`).exec(input)?.[1] ?? '';
    return [attribute('name'), attribute('value')] as const;
  });
  return {
    action: unescaped(action),
    values: Object.fromEntries(inputs.map(([name, value]) => [name, unescaped(value)])),
  };
}

function unescaped(text: string): string {
  return text.replaceAll('&amp;', '&').replaceAll('&quot;', '"').replaceAll('&#39;', "'");
}

// A PDF as ISO 32000-1 describes it: numbered objects, then a table of where each begins.

interface PdfOptions {
  /** Says that the text is encrypted with a password that nobody has. */
  readonly isEncrypted?: boolean;
}

/** A PDF with a page for each list of lines. */
export function writePdf(pages: readonly (readonly string[])[], { isEncrypted = false }: PdfOptions = {}): Uint8Array {
  const first = 4; // after the catalogue, the pages and the font; each page is followed by its content
  const kids = pages.map((_, index) => `${first + 2 * index} 0 R`).join(' ');
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Kids [${kids}] /Count ${pages.length} >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    ...pages.flatMap((lines, index) => {
      const shown = lines.map((line) => `(${line.replace(/[()\\]/g, String.raw`\$&`)}) Tj 0 -14 Td`).join('\n');
      const content = lines.length === 0 ? '' : `BT /F1 12 Tf 72 720 Td\n${shown}\nET`;
      const resources = '/MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >>';
      return [
        `<< /Type /Page /Parent 2 0 R ${resources} /Contents ${first + 2 * index + 1} 0 R >>`,
        `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
      ];
    }),
  ];
  let file = '%PDF-1.4\n';
  const places = objects.map((object, index) => {
    const at = file.length;
    file += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(at).padStart(10, '0')} 00000 n \n`;
  });
  const key = `<${'5a'.repeat(32)}>`;
  const encryption = isEncrypted
    ? `/ID [<00><00>] /Encrypt << /Filter /Standard /V 1 /R 2 /O ${key} /U ${key} /P -4 >>`
    : '';
  const table = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${places.join('')}`;
  const end = `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R ${encryption} >>\nstartxref\n${file.length}\n%%EOF\n`;
  return Buffer.from(file + table + end, 'latin1');
}

/** Copies the text of a field. The clipboard of a page is for secure connections only; this way works on all. */
export function copyText(field: HTMLInputElement | HTMLTextAreaElement | null): boolean {
  field?.select();
  return document.execCommand('copy');
}

/** Why the last request of a dialog failed; nothing without a text. */
export function Failure({ text }: { readonly text: string | undefined }) {
  if (!text) return null;
  return (
    <p class="failure" role="alert">
      {text}
    </p>
  );
}

/** Parts of a text that a lab does not hold, so that reading the lab would lose them. */

/** Keys of a lab file that leave no trace in a project. */
const ownKeys = /^(?:checks|test|vars|include|defaults|placement)\s*:/m;
/** A remark of the server's own, as an export begins with. */
const ofServer = /^# (?:Not exported|Only this server has)/;
/** A comment: the sign begins the line, or follows a space outside of quotes. A line of a configuration may look like one. */
const comment = /^\s*#|^(?:[^'"#]|'[^']*'|"[^"]*")*?\s#/;

export function hasOwnWords(text: string): boolean {
  return ownKeys.test(text) || text.split('\n').some((line) => comment.test(line) && !ofServer.test(line));
}

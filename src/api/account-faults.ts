/** Failures of logins, rights and accounts: rows of the table in `faults.ts`. */
export const accountFaults = {
  unauthorized: { status: 401, says: 'Authentication is required: send user and password (HTTP Basic), or sign in on the page' },
  wrong_login: { status: 401, says: 'The user or the password is wrong' },
  too_many_logins: { status: 429, says: 'Too many logins from this address failed: try again in 10 seconds' },
  login_busy: { status: 503, says: 'Too many passwords are being checked: try again in a few seconds' },
  forbidden: { status: 403, says: 'This needs the privilege {privilege} on {path}: ask an administrator for it' },
  administrator_needed: { status: 403, says: 'Only an administrator may do this' },
  account_missing: { status: 404, says: "The {what} '{id}' does not exist" },
  account_taken: { status: 400, says: "The {what} '{name}' exists already: choose another name" },
  account_refused: { status: 403, says: '{reason}' },
  setup_refused: {
    status: 403,
    says: 'This set-up address is wrong, was used, or has expired: start the server again for a new one',
  },
  account_invalid: { status: 400, says: '{reason}' },
} as const;

/** Failures to keep the present of a project before a rewind: a part of the table in `faults.ts`. */
export const presentFaults = {
  present_without_room: {
    status: 507,
    says: 'Nothing was restored: there is no room to keep the present of "{name}". {reason}. A restore with keep_present: false gives it up',
  },
  present_not_kept: {
    status: 409,
    says: 'Nothing was restored: the present of "{name}" could not be kept. {reason}. A restore with keep_present: false gives it up',
  },
} as const;

/**
 * `test.fidelity` of labs whose checks are the subject: how late the emulation is on a busy machine does not make their verdict void.
 */
export const patientFidelity = {
  loop_late_p99: '1m',
  loop_late_worst: '1m',
  delay_error_p50: '1m',
  delay_error_p99: '1m',
  delay_error_worst: '1m',
  steal: '<= 100%',
};

/** End of a lab file that sets it. */
export const patientTest = `test: { fidelity: ${JSON.stringify(patientFidelity)} }\n`;

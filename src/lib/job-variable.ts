/**
 * Environment variable that every process of a slice in a Slurm job carries, confined ones too. The script of the job
 * (`controller/engines/slurm/slice-job.ts`) finds by it the processes that a killed server leaves running.
 */
export const jobVariable = 'PATCHBAY_SLURM_JOB';

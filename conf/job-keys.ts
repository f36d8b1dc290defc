/** Keys of workflow jobs. */

/** Returns the key of a job within its file: jobs that another has become have its key before. */
export function ownKeyOf(key: string): string {
  return key.slice(key.lastIndexOf('/') + 1)
}

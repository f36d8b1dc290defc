/** Keys of workflow jobs. */

/** Returns the key of a job within its file: jobs that another has become have its key before. */
export function ownKeyOf(key: string): string {
  return key.slice(key.lastIndexOf('/') + 1)
}

/** Returns the key of the job of the file that has become a job; its own key if there is none. */
export function originKeyOf(key: string): string {
  return key.split('/')[0] ?? key
}

/** Keys of workflow jobs. */

/** Returns the key of a job within its file: jobs that another has become have its key before. */
export function ownKeyOf(key: string): string {
  return key.slice(key.lastIndexOf('/') + 1)
}

/** Returns the key of the job of the file that has become a job; its own key if there is none. */
export function originKeyOf(key: string): string {
  return key.split('/')[0] ?? key
}

/** Returns the key of the job that has become a job; undefined for a job of the file. */
export function parentKeyOf(key: string): string | undefined {
  // Jobs of called workflows have the number of their call before their own key.
  return /^(.+?)(?:\/\d+)?\/[^/]+$/.exec(key)?.[1]
}

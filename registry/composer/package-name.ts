/** Names of Composer packages: `vendor/project`, in lower case. */

/** Pattern of Composer's schema, rewritten so that matching takes linear time. */
const PACKAGE_NAME = /^[a-z0-9]+(?:[_.-][a-z0-9]+)*\/[a-z0-9]+(?:(?:[_.]|--?)[a-z0-9]+)*$/

const CHARACTERS_MAX = 255

export function isPackageName(text: string): boolean {
  return text.length <= CHARACTERS_MAX && PACKAGE_NAME.test(text)
}

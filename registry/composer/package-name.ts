/** What Composer packages may be called: `vendor/project`, in lower case. */

/** As in Composer's schema, in a form that takes no more time than the name is long. */
const PACKAGE_NAME = /^[a-z0-9]+(?:[_.-][a-z0-9]+)*\/[a-z0-9]+(?:(?:[_.]|--?)[a-z0-9]+)*$/

const CHARACTERS_MAX = 255

export function isPackageName(text: string): boolean {
  return text.length <= CHARACTERS_MAX && PACKAGE_NAME.test(text)
}

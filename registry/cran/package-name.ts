/** The names of R packages ("Writing R Extensions", The DESCRIPTION file). */

/** Returns true if R accepts the text as the name of a package. */
export function isPackageName(text: string): boolean {
  return /^[A-Za-z][A-Za-z0-9.]*$/.test(text) && text.length > 1 && !text.endsWith('.')
}

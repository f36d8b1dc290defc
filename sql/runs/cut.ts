/** Texts of workflow files, cut to what their columns hold. */

/** Number of characters of a column for a name. */
export const NAME_CHARACTERS_MAX = 255

/** Returns the text, or its beginning with an ellipsis if it is longer. */
export function cut(text: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text
  const characters = [...text]
  const isLong = characters.length > charactersMax
  return isLong ? `${characters.slice(0, charactersMax - 1).join('')}…` : text
}

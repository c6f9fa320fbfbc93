// How references are compared: without white space around them, and without the case of letters A to Z.

/** Returns the SQL of a reference as it is compared: the expression of the indexes `…_folded`. */
export const foldedSql = (reference: string): string => `lower(trim(${reference}))`

/** Returns a reference as it is compared. */
export const foldReference = (reference: string): string =>
  reference.trim().replace(/[A-Z]/g, (letter) => letter.toLowerCase())

/** The maximum number of parts of a statement that one CSV file lists, or that a page adds up. */
export const FILE_PARTS = 500

/** What a byte of a row takes while it becomes text: JSON, values, and the text. */
export const WEIGHT_PER_BYTE = 6

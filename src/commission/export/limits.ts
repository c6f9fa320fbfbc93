import { PART_LIMITS } from '../statements/limits.ts'

/** The maximum number of statements, and of lines, of a printable page. */
export const PAGE_LIMITS = { statements: 200, lines: 5000 }

/** The maximum number of parts of a statement that a printable page lists. */
export const PAGE_PARTS = PAGE_LIMITS.lines / PART_LIMITS.lines

/** The maximum number of parts of a statement that one CSV file lists. */
export const FILE_PARTS = 500

/** The statements, and the lines, whose first parts are read together. */
export const GROUP_LIMITS = { statements: 50, lines: 250 }

/** What a byte of a row takes while it becomes text: JSON, values, and the text. */
export const WEIGHT_PER_BYTE = 6

/** After how many months records may leave the database, and by default. */
export const ARCHIVE_AFTER = { default: 13, least: 13, most: 120 } as const

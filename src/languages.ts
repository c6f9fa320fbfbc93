/** The languages of the portal, as BCP 47 tags. */
export const LANGUAGES = ['en', 'de', 'es', 'pt'] as const

/** A language of the portal. */
export type Language = (typeof LANGUAGES)[number]

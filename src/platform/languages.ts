/** The languages of the portal, as BCP 47 tags. */
export const LANGUAGES = ['en', 'de', 'es', 'fr', 'pt'] as const

/** A language of the portal. */
export type Language = (typeof LANGUAGES)[number]

/** Returns the language that a caller prefers (RFC 9110 §12.5.4); null if there is none of the portal's. */
export function acceptedLanguage(accepted: string | undefined): Language | null {
  const ranked = (accepted ?? '').split(',').map((part) => {
    const [tag = '', q = ''] = part.trim().split(/;\s*q=/)
    return { tag: tag.slice(0, 2).toLowerCase(), weight: q === '' ? 1 : Number(q) }
  })
  const known = ranked.toSorted((a, b) => b.weight - a.weight).map(({ tag }) => tag)
  for (const tag of known) {
    const language = LANGUAGES.find((one) => one === tag)
    if (language) return language
  }
  return null
}

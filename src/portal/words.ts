import de from '../catalogues/de.json' with { type: 'json' }
import en from '../catalogues/en.json' with { type: 'json' }
import es from '../catalogues/es.json' with { type: 'json' }
import fr from '../catalogues/fr.json' with { type: 'json' }
import pt from '../catalogues/pt.json' with { type: 'json' }
import type { Language } from '../platform/languages.ts'

// Every text of the portal is in `catalogues`, in each of its languages. `{name}` is replaced by a value.

/** The texts of the portal. */
export type Words = Readonly<Record<keyof typeof en.portal, string>>

/** The texts of the portal by language. */
export const WORDS: Readonly<Record<Language, Words>> = {
  en: en.portal,
  de: de.portal,
  es: es.portal,
  fr: fr.portal,
  pt: pt.portal,
}

/** Returns a text with its values. */
export const fill = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '')

import passkeys from '../catalogues/passkeys.json' with { type: 'json' }
import catalogue from '../catalogues/portal.json' with { type: 'json' }
import { messagesByLanguage } from '../platform/languages.ts'

// Every text of the portal is in `catalogues`, in each of its languages. `{name}` is replaced by a value.

/** The texts of the portal. */
export type Words = Readonly<Record<keyof typeof catalogue | keyof typeof passkeys, string>>

/** The texts of the portal by language. */
export const WORDS = messagesByLanguage<keyof Words, string>({ ...catalogue, ...passkeys })

import type { MiddlewareHandler } from 'hono'
import english from '../../catalogues/english.json' with { type: 'json' }
import type { AppEnv } from '../auth/authorize.ts'
import type { Language } from '../languages.ts'
import { assetOf } from './documents.ts'

// Every text of the portal and of notices is in `catalogues`, in each of its languages. `{name}` is replaced by a value.

/** The texts of the portal and of notices. */
export type Words = Readonly<Record<keyof typeof english, string>>

/** The texts by language. All are English until `loadWords` has loaded them. */
export const WORDS: Readonly<Record<Language, Words>> = {
  en: english,
  de: english,
  es: english,
  fr: english,
  pt: english,
}

/** Loads the other languages, once for each isolate: the script has English alone. */
export async function loadWords(env: Env): Promise<void> {
  if (WORDS.de !== english) return
  Object.assign(WORDS, await (await assetOf(env, '/words.json')).json())
}

/** Loads the languages before a page is made. */
export const withWords: MiddlewareHandler<AppEnv> = async (c, next) => {
  await loadWords(c.env)
  await next()
}

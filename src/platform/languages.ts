import { parseAccept } from 'hono/utils/accept'

/** The languages of the portal, as BCP 47 tags. */
export const LANGUAGES = ['en', 'de', 'es', 'fr', 'pt'] as const

/** A language of the portal. */
export type Language = (typeof LANGUAGES)[number]

/** Returns the messages of a catalogue, which holds each message in all languages, by language. */
export function messagesByLanguage<Name extends string, Message>(
  catalogue: Readonly<Record<Name, Readonly<Record<Language, Message>>>>,
): Readonly<Record<Language, Readonly<Record<Name, Message>>>> {
  const names = Object.keys(catalogue) as Name[]
  const of = (language: Language) =>
    Object.fromEntries(names.map((name) => [name, catalogue[name][language]])) as Record<
      Name,
      Message
    >
  return { en: of('en'), de: of('de'), es: of('es'), fr: of('fr'), pt: of('pt') }
}

/** Returns the language that a caller prefers (RFC 9110 §12.5.4); null if there is none of the portal's. */
export const acceptedLanguage = (accepted = ''): Language | null =>
  parseAccept(accepted)
    .flatMap(({ type }) => LANGUAGES.find((one) => one === type.slice(0, 2).toLowerCase()) ?? [])
    .at(0) ?? null

/** Returns a text with its values: `{name}` is replaced by the value of that name. */
export const fill = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '')

import { expect, test } from 'vitest'
import type { Message } from '../../src/commission/words/message.ts'
import { MESSAGES } from '../../src/commission/words/words.ts'
import { LANGUAGES, type Language } from '../../src/platform/languages.ts'

const formsOf = (message: Message) =>
  typeof message === 'string' ? [message] : Object.values(message)

/** The names in braces of a message, in alphabetical order. */
const namesOf = (message: Message) =>
  [...new Set(formsOf(message).flatMap((text) => text.match(/\w+(?=\})/g) ?? []))].sort()

/** The English nouns of `min` are always plural; those of other languages follow the number. */
const sameNames = (names: string[]) => names.map((name) => (name === 'nouns' ? 'noun' : name))

test.each(LANGUAGES)(
  'each message of %s has the names in braces of the English one',
  (language) => {
    const places = (own: Language) =>
      Object.entries(MESSAGES[own]).map(([name, message]) => [name, sameNames(namesOf(message))])
    expect(places(language).sort()).toEqual(places('en').sort())
    for (const text of Object.values(MESSAGES[language]).flatMap(formsOf)) {
      expect(text.replaceAll(/\{(?:de )?\w+\}/g, 'x')).not.toMatch(/[{}]|undefined|^\s|\s$/)
    }
  },
)

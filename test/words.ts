import { WORDS } from '../src/platform/documents/texts.ts'

/** Makes the isolate as one that has just started: it has the texts of English alone. */
export const forgetWords = () => {
  const { en } = WORDS
  Object.assign(WORDS, { de: en, es: en, fr: en, pt: en })
}

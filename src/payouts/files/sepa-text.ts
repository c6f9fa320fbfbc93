// The letters that every bank carries (EPC217-08): a text is written with these alone.

/** What letters of names become that are not a Latin letter with a mark. Capital letters follow from small ones. */
const LETTERS = new Map(
  [
    'ß ss æ ae œ oe ø o đ d ð d ł l þ th ħ h ŋ n ı i ə a',
    'α a β v γ g δ d ε e ζ z η i θ th ι i κ k λ l μ m ν n ξ x ο o π p ρ r σ s ς s τ t υ y φ f χ ch ψ ps ω o',
    'а a б b в v г g д d е e ж zh з z и i й y к k л l м m н n о o п p р r с s т t у u ф f х h ц ts ч ch',
    'ш sh щ sht ъ a ы y ь y э e ю yu я ya і i є ye ї yi ґ g ђ dj ј j љ lj њ nj ћ c џ dz ѓ g ѕ dz ќ k',
    `& + _ - @ (at) " ' ’ ' ‘ ' “ ' ” ' \` ' ´ ' – - — - ; , ! . [ ( ] ) { ( } ) ⁄ /`,
  ].flatMap((line) =>
    [...line.matchAll(/(\S+) (\S+)/g)].map(([, from = '', to = '']) => [from, to]),
  ),
)

const ALLOWED = /^[\dA-Za-z/\-?:().,'+ ]$/

/** Returns the letters of a bank for a letter; null if there are none. */
function lettersOf(letter: string): string | null {
  if (ALLOWED.test(letter)) return letter
  if (/\s/.test(letter)) return ' '
  const small = letter.toLowerCase()
  const found = LETTERS.get(small)
  if (found !== undefined) {
    return letter === small ? found : found.slice(0, 1).toUpperCase() + found.slice(1)
  }
  const [base = '', ...marks] = letter.normalize('NFKD')
  if (base !== letter && (marks.length > 0 || ALLOWED.test(base))) {
    const parts = [base, ...marks].map(lettersOf)
    return parts.includes(null) ? null : parts.join('')
  }
  return /[\p{M}\p{C}]/u.test(letter) ? '' : null
}

/** Returns the letters of a text that banks cannot write, each once. */
export const missingLetters = (text: string): string[] =>
  [...new Set(text.normalize('NFC'))].filter((letter) => lettersOf(letter) === null).sort()

/**
 * Returns a text in the letters of banks, of at most so many, with a point for what they cannot write. It neither begins nor ends with a slash, and has no two
 * of them together: banks read these as codes.
 */
export function sepaText(text: string, max: number): string {
  const written = [...text.normalize('NFC')].map((letter) => lettersOf(letter) ?? '.').join('')
  const plain = written.replaceAll(/\/{2,}/g, '/').replaceAll(/ {2,}/g, ' ')
  return plain.slice(0, max).replaceAll(/^[ /]+|[ /]+$/g, '')
}

/** The plural forms of a message, by the categories of `Intl.PluralRules`. */
export type PluralForms = Readonly<Partial<Record<Intl.LDMLPluralRule, string>>> & {
  readonly other: string
}

/**
 * What one language says: names in braces are replaced. A message with plural forms is chosen by the
 * value of `count`. French writes `{de name}`, which becomes `d’` before a vowel.
 */
export type Message = string | PluralForms

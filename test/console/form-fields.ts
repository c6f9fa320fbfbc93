/** The fields of a form, by name. */
export type Fields = Record<string, string>

/** Returns a text of HTML without its escapes. */
export const unescaped = (text: string): string =>
  text
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')

/** Returns the fields that a browser sends of the form that saves a plan or a rule, without those of its buttons. */
export function fieldsOf(page: string): Fields {
  const [, form = ''] = /<form[^>]*id="change-put"[^>]*>([\s\S]*?)<\/form>/.exec(page) ?? []
  const attribute = (tag: string, name: string) =>
    new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1] ?? ''
  const fields: Fields = {}
  for (const [tag] of form.matchAll(/<input[^>]*>/g)) {
    const isTick = attribute(tag, 'type') === 'checkbox'
    if (isTick && !/\schecked(?=[\s=/>])/.test(tag)) continue
    fields[unescaped(attribute(tag, 'name'))] = unescaped(attribute(tag, 'value'))
  }
  for (const [, tag = '', inner = ''] of form.matchAll(/<select([^>]*)>([\s\S]*?)<\/select>/g)) {
    const options = [...inner.matchAll(/<option[^>]*>/g)].map(([option]) => option)
    const chosen =
      options.find((option) => /\sselected(?=[\s=/>])/.test(option)) ?? options[0] ?? ''
    fields[unescaped(attribute(tag, 'name'))] = unescaped(attribute(chosen, 'value'))
  }
  for (const [, tag = '', text = ''] of form.matchAll(/<textarea([^>]*)>([\s\S]*?)<\/textarea>/g)) {
    fields[attribute(tag, 'name')] = unescaped(text)
  }
  return fields
}

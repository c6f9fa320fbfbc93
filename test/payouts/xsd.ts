import { SaxesParser } from 'saxes'

// Validates XML by an XSD of ISO 20022, which is made of sequences, choices and restrictions of texts alone: so little needs
// no library, and `xmllint` is not on every machine.

interface Element {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  text: string
  readonly children: Element[]
}

/** Returns the first element of a document. */
function parse(xml: string): Element {
  const root: Element = { name: '', attributes: {}, text: '', children: [] }
  const path = [root]
  const parser = new SaxesParser()
  parser.on('error', (error) => {
    throw error
  })
  parser.on('opentag', ({ name, attributes }) => {
    const element = { name, attributes, text: '', children: [] }
    path[0]!.children.push(element)
    path.unshift(element)
  })
  parser.on('text', (text) => {
    path[0]!.text += text
  })
  parser.on('closetag', () => path.shift())
  parser.write(xml).close()
  return root.children[0]!
}

/** What a text must be, by the name of a facet. */
const FACETS: Readonly<Record<string, (text: string, value: string) => boolean>> = {
  pattern: (text, value) => new RegExp(`^(?:${value})$`).test(text),
  minLength: (text, value) => [...text].length >= Number(value),
  maxLength: (text, value) => [...text].length <= Number(value),
  minInclusive: (text, value) => Number(text) >= Number(value),
  fractionDigits: (text, value) => (text.split('.')[1] ?? '').length <= Number(value),
  totalDigits: (text, value) => text.replace(/\D|^-?0+/g, '').length <= Number(value),
}

const BASES: Readonly<Record<string, RegExp>> = {
  'xs:string': /(?:)/,
  'xs:boolean': /^(true|false|0|1)$/,
  'xs:date': /^\d{4}-\d\d-\d\d$/,
  'xs:dateTime': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?$/,
  'xs:decimal': /^[+-]?(\d+(\.\d*)?|\.\d+)$/,
}

/** Returns a function that returns what of a document is not as a schema has it. */
export function validatorOf(xsd: string): (xml: string) => string[] {
  const schema = parse(xsd)
  const types = new Map(schema.children.map((one) => [one.attributes.name, one]))
  const faultsOfText = (text: string, type: string | undefined): boolean => {
    if (type?.startsWith('xs:')) return !BASES[type]!.test(text)
    const [restriction] = types.get(type)!.children
    const facets = Map.groupBy(restriction!.children, ({ name }) => name.slice(3))
    const choices = facets.get('enumeration')
    facets.delete('enumeration')
    return (
      faultsOfText(text, restriction!.attributes.base) ||
      choices?.every(({ attributes }) => attributes.value !== text) === true ||
      [...facets].some(([name, all]) =>
        all.some(({ attributes }) => !FACETS[name]!(text, attributes.value!)),
      )
    )
  }
  const faultsOf = (element: Element, type: string | undefined, at: string): string[] => {
    const [content] = type?.startsWith('xs:') ? [] : types.get(type)!.children
    const kind = content?.name
    if (kind === 'xs:simpleContent') {
      const { base } = content!.children[0]!.attributes
      const [ccy] = content!.children[0]!.children
      const { name, type } = ccy!.attributes
      const isBad = faultsOfText(element.attributes[name!] ?? '', type)
      return isBad || faultsOfText(element.text, base) ? [at] : []
    }
    if (kind !== 'xs:sequence' && kind !== 'xs:choice')
      return element.children.length > 0 || faultsOfText(element.text, type) ? [at] : []
    const left = [...element.children]
    const faults: string[] = []
    const counts = content!.children.map(({ attributes: { name, type, minOccurs, maxOccurs } }) => {
      let count = 0
      for (; left[0]?.name === name; count++)
        faults.push(...faultsOf(left.shift()!, type, `${at}/${name}`))
      const least = kind === 'xs:choice' ? 0 : Number(minOccurs ?? 1)
      const most = maxOccurs === 'unbounded' ? Number.POSITIVE_INFINITY : Number(maxOccurs ?? 1)
      if (count < least || count > most) faults.push(`${at}/${name} ${count} times`)
      return count
    })
    const isNone = kind === 'xs:choice' && counts.filter((n) => n > 0).length !== 1
    return [...faults, ...left.map(({ name }) => `${at}/${name} there`), ...(isNone ? [at] : [])]
  }
  const [document] = schema.children
  return (xml) => {
    const root = parse(xml)
    const isOther = root.attributes.xmlns !== schema.attributes.targetNamespace
    return isOther ? ['namespace'] : faultsOf(root, document!.attributes.type, '')
  }
}

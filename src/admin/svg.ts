// SVG images of which nothing runs, moves or loads a file. What an image may have is listed, and everything else
// is refused, so that a new way to run something is refused, too.

const ELEMENTS = new Set(
  `svg g defs symbol use title desc style path rect circle ellipse line polyline polygon text tspan textPath image
  clipPath mask pattern marker linearGradient radialGradient stop switch filter feBlend feColorMatrix
  feComponentTransfer feComposite feConvolveMatrix feDiffuseLighting feDisplacementMap feDistantLight feDropShadow
  feFlood feFuncA feFuncB feFuncG feFuncR feGaussianBlur feMerge feMergeNode feMorphology feOffset fePointLight
  feSpecularLighting feSpotLight feTile feTurbulence`
    .split(/\s+/)
    .map((name) => name.toLowerCase()),
)

/** The parts of an SVG document, one of which begins at a place. Attributes have quotes, as XML demands. */
const PARTS = {
  text: /[^<]+/y,
  comment: /<!--[\s\S]*?-->/y,
  characters: /<!\[CDATA\[([\s\S]*?)\]\]>/y,
  declaration: /<\?xml\s[^>]*\?>/y,
  type: /<!DOCTYPE[^>[]*>/iy,
  end: /<\/([\w:.-]+)\s*>/y,
  start: /<([\w:.-]+)((?:\s+[\w:.-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>/y,
} as const

const ATTRIBUTE = /([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g

/** What an image is refused for. */
const SCRIPT = 'has a script'
const HANDLER = 'has an event handler'
const LOADS = 'loads another file'
const ENTITIES = 'declares entities'
const NO_IMAGE = 'is no whole SVG image'

/** The namespace of SVG. */
const SVG = 'http://www.w3.org/2000/svg'

/** Returns a name without its namespace, in lowercase. */
const localName = (name: string): string => name.slice(name.indexOf(':') + 1).toLowerCase()

/** Returns a text with what its references, such as `&#106;`, stand for. */
const decoded = (text: string): string =>
  text
    .replaceAll(/&#(?:x([\da-f]{1,6})|(\d{1,7}));?/gi, (_, hex?: string, ten?: string) => {
      const code = hex ? Number.parseInt(hex, 16) : Number(ten)
      return code <= 0x10ffff ? String.fromCodePoint(code) : ''
    })
    .replaceAll(/&(lt|gt|quot|apos|amp);/g, (_, name: string) =>
      name === 'amp' ? '&' : name === 'lt' ? '<' : name === 'gt' ? '>' : '"',
    )

/** Returns why CSS, or an attribute with its syntax, is refused; null if it is not. */
function styleProblem(css: string): string | null {
  // `u\72l(x)` is `url(x)`, so that no pattern could find it.
  if (css.includes('\\')) return 'has a backslash in a style'
  if (/\b(?:java|vb)script\s*:|\bexpression\s*\(/i.test(css)) return SCRIPT
  // Comments are searched, too: what begins one can stand in a string.
  const isLoading =
    /@(?!media\b)|\b(?:image|image-set|-webkit-image-set|cross-fade|element|src)\s*\(/i.test(css) ||
    /\burl\(\s*["']?\s*(?!#)[^)"'\s]/i.test(css)
  return isLoading ? LOADS : null
}

/** Returns why an attribute is refused; null if it is not. */
function attributeProblem(name: string, sent: string): string | null {
  const local = localName(name)
  if (name === 'xmlns' || name === 'xmlns:svg') return sent === SVG ? null : NO_IMAGE
  if (name === 'xml:base') return LOADS
  if (name.startsWith('xmlns:')) return null
  if (local.startsWith('on')) return HANDLER
  const value = decoded(sent)
  // Browsers drop white space and control characters from addresses.
  const address = value.replaceAll(/[\p{Cc}\s]/gu, '')
  if (/^(?:java|vb)script:/i.test(address)) return SCRIPT
  if (local === 'href' || local === 'src') {
    return /^(?:#|data:image\/(?:png|jpeg|gif|webp)[;,]|$)/i.test(address) ? null : LOADS
  }
  // No browser knows the attributes that drawing programs add under their own names.
  return name.includes(':') ? null : styleProblem(value)
}

/** Returns why an element is refused; null if it is not. */
function elementProblem(name: string, attributes: string): string | null {
  const local = localName(name)
  if (local === 'script') return SCRIPT
  if (!ELEMENTS.has(local) || /^(?!svg:).*:/.test(name)) return `has the element “${name}”`
  for (const [, attribute = '', double, single] of attributes.matchAll(ATTRIBUTE)) {
    const problem = attributeProblem(attribute, double ?? single ?? '')
    if (problem) return problem
  }
  return null
}

/** Returns why a file that begins as an SVG image is refused, as a sentence without its subject; null if it is not. */
export function svgContentProblem(text: string): string | null {
  const open: string[] = []
  for (let at = 0; at < text.length; ) {
    const found = Object.entries(PARTS).flatMap(([kind, pattern]) => {
      pattern.lastIndex = at
      const match = pattern.exec(text)
      return match ? [{ kind, match }] : []
    })[0]
    if (!found) return /^<!DOCTYPE/i.test(text.slice(at, at + 9)) ? ENTITIES : NO_IMAGE
    const [whole, first = '', attributes = '', isClosed] = found.match
    if (found.kind === 'start') {
      const problem = elementProblem(first, attributes)
      if (problem) return problem
      if (!isClosed) open.push(first)
    }
    if (found.kind === 'end' && open.pop() !== first) return NO_IMAGE
    const isText = found.kind === 'text' || found.kind === 'characters'
    if (isText && localName(open.at(-1) ?? '') === 'style') {
      const problem = styleProblem(found.kind === 'text' ? decoded(whole) : first)
      if (problem) return problem
    }
    at += whole.length
  }
  return open.length > 0 ? NO_IMAGE : null
}

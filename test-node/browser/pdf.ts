import { inflateSync } from 'node:zlib'

// The text of a PDF as Chromium writes it: the glyphs of embedded fonts, with a map to characters.

/** The head of a stream, with the number of its object and its length in bytes. */
const STREAM = /(\d+) 0 obj\s*<<((?:(?!endobj)[\s\S])*?)>>\s*stream\r?\n/g

/** Returns the characters of the glyphs that a map of a font lists. */
function charactersOf(map: string): Map<number, string> {
  const characters = new Map<number, string>()
  const textOf = (hex: string) => Buffer.from(hex, 'hex').swap16().toString('utf16le')
  for (const [, section = ''] of map.matchAll(/beginbfchar([\s\S]*?)endbfchar/g)) {
    for (const [, glyph = '', hex = ''] of section.matchAll(/<(\w+)>\s*<(\w+)>/g)) {
      characters.set(Number.parseInt(glyph, 16), textOf(hex))
    }
  }
  for (const [, section = ''] of map.matchAll(/beginbfrange([\s\S]*?)endbfrange/g)) {
    for (const [, from = '', to = '', hex = ''] of section.matchAll(
      /<(\w+)>\s*<(\w+)>\s*<(\w+)>/g,
    )) {
      const [start, end] = [Number.parseInt(from, 16), Number.parseInt(to, 16)]
      for (let glyph = start; glyph <= end; glyph++) {
        const code = Number.parseInt(hex, 16) + glyph - start
        characters.set(glyph, String.fromCharCode(code))
      }
    }
  }
  return characters
}

/** Returns the inflated streams of a PDF, by the numbers of their objects. */
function streamsOf(source: string): Map<string, string> {
  const streams = new Map<string, string>()
  for (const { 0: start, 1: id = '', 2: head = '', index } of source.matchAll(STREAM)) {
    // Fonts have a length before compression, and are not text.
    if (!head.includes('/FlateDecode') || head.includes('/Length1')) continue
    const [, length = 0] = /\/Length (\d+)/.exec(head) ?? []
    const body = source.slice(index + start.length, index + start.length + Number(length))
    streams.set(id, inflateSync(Buffer.from(body, 'latin1')).toString('latin1'))
  }
  return streams
}

const FONT = /(\d+) 0 obj\s*<<(?:(?!endobj)[\s\S])*?\/ToUnicode (\d+) 0 R/g

/** The choice of a font, whose name is F and the number of its object, or glyphs in it. */
const OPERATOR = /\/F(\d+) [\d.]+ Tf|<([\da-f]+)> Tj/gi

/** Returns the text of a PDF without spaces, and without ligatures. */
export function textOfPdf(pdf: Buffer): string {
  const source = pdf.toString('latin1')
  const streams = streamsOf(source)
  const fonts = new Map(
    [...source.matchAll(FONT)].map(([, font = '', map = '']) => [
      font,
      charactersOf(streams.get(map) ?? ''),
    ]),
  )
  let text = ''
  let font: Map<number, string> | undefined
  for (const content of streams.values()) {
    for (const [, name, glyphs = ''] of content.matchAll(OPERATOR)) {
      if (name !== undefined) font = fonts.get(name)
      for (const glyph of glyphs.match(/.{4}/g) ?? []) {
        text += font?.get(Number.parseInt(glyph, 16)) ?? ''
      }
    }
  }
  return text.normalize('NFKC').replaceAll(/\s/g, '')
}

// Actions that run inside a page. They take a fraction of the time of Playwright's clicks. The
// expressions in strings do not need the script that Playwright loads into a page for its locators.

/** The time in milliseconds that a page has to show a chart. */
const ANSWER_TIMEOUT = 10_000

/** Waits until the script has drawn the charts of a page of the console, from tables that have rows. */
export const CHARTS_DRAWN = `
  for (const start = Date.now(); Date.now() - start < ${ANSWER_TIMEOUT}; ) {
    const figures = [...document.querySelectorAll('[data-chart]:has(tbody tr)')]
    if (figures.every((one) => one.querySelector('canvas'))) break
    await new Promise((done) => setTimeout(done, 5))
  }
`

/** Opens the visible `<details>` elements. The result is the width of the page. */
export const OPEN_DETAILS = `
  (() => {
    for (const one of [...document.querySelectorAll('details')].filter((one) => one.checkVisibility()))
      one.open = true
    return document.documentElement.scrollWidth
  })()
`

/**
 * Removes elements after the second of several neighbours that differ only in their texts, such as rows. What sticks
 * to the window is laid out where it stands: it covers something wherever a reader scrolls.
 */
export const LEAVE_TWO_ALIKE = `
  (() => {
    const shapeOf = (element) => {
      const counts = {}
      let inner = ''
      for (const child of [...element.children]) {
        const shape = shapeOf(child)
        counts[shape] = (counts[shape] ?? 0) + 1
        if (counts[shape] > 2) child.remove()
        else inner += shape
      }
      return '<' + element.tagName + element.getAttributeNames() + element.className + '>' + inner
    }
    shapeOf(document.body)
    const isSticky = (element) => getComputedStyle(element).position === 'sticky'
    for (const element of [...document.querySelectorAll('body *')].filter(isSticky))
      element.style.position = 'static'
  })()
`

/** The texts whose contrast with what is behind them is less than WCAG 2.2 AA asks for. */
export const LOW_CONTRAST = `
  (() => {
    const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true })
    const kept = (compute) => {
      const results = new Map()
      return (key) => results.get(key) ?? results.set(key, compute(key)).get(key)
    }
    const luminance = kept((colors) => {
      for (const color of ['white', ...colors.split('|')]) {
        canvas.fillStyle = color
        canvas.fillRect(0, 0, 1, 1)
      }
      const [red, green, blue] = [...canvas.getImageData(0, 0, 1, 1).data].map((byte) =>
        byte <= 10 ? byte / 255 / 12.92 : ((byte / 255 + 0.055) / 1.055) ** 2.4,
      )
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue
    })
    const behind = kept((element) => {
      const { backgroundColor } = getComputedStyle(element)
      return element.parentElement ? behind(element.parentElement) + '|' + backgroundColor : backgroundColor
    })
    const shown = [...document.querySelectorAll('input, select, textarea')]
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    while (walker.nextNode())
      if (walker.currentNode.data.trim() !== '') shown.push(walker.currentNode.parentElement)
    const unread = 'script, style, option, :disabled, [type=hidden], [type=checkbox], [type=radio]'
    return [...new Set(shown)].flatMap((element) => {
      if (element.matches(unread) || !element.checkVisibility({ visibilityProperty: true })) return []
      const { width, height } = element.getBoundingClientRect()
      if (width <= 1 || height <= 1) return []
      const { color, fill, fontSize, fontWeight } = getComputedStyle(element)
      const under = behind(element)
      const levels = [luminance(under), luminance(under + '|' + (element.ownerSVGElement ? fill : color))]
      const ratio = (Math.max(...levels) + 0.05) / (Math.min(...levels) + 0.05)
      const size = Number.parseFloat(fontSize)
      const isLarge = size >= 24 || (size >= 18.66 && fontWeight >= 700)
      if (ratio >= (isLarge ? 3 : 4.5)) return []
      return ['contrast of ' + ratio.toFixed(2) + ': ' + element.outerHTML.slice(0, 200)]
    })
  })()
`

/** The fields, buttons and links of a page that nothing names: no text and no `aria-label`. */
export const UNNAMED_CONTROLS = `
  (() => {
    const textOf = ({ textContent }) => textContent.trim()
    const labels = [...document.querySelectorAll('label[for]')].filter(textOf)
    const labelled = new Set(labels.map(({ htmlFor }) => htmlFor))
    const isNamed = (element) =>
      element.ariaLabel ||
      element.ariaLabelledByElements?.length ||
      (element.matches('input, select, textarea')
        ? labelled.has(element.id) || element.closest('label')
        : textOf(element) || element.querySelector('img[alt]:not([alt=""])'))
    return [...document.querySelectorAll('input, select, textarea, button, a[href], summary')]
      .filter((element) => element.type !== 'hidden' && !isNamed(element))
      .map((element) => element.outerHTML.slice(0, 200))
  })()
`

/** The rows that the visible parts of the header take, and the blocks of code that their button covers. */
export const HEADER_AND_COPY = `
  (() => {
    const middleOf = (one) => { const { top, bottom } = one.getBoundingClientRect(); return Math.round((top + bottom) / 2) }
    const parts = [...document.querySelector('.top').children].filter((one) => one.checkVisibility())
    const wordsOf = ({ childNodes }) =>
      [...childNodes].flatMap((node) =>
        [...(node.data ?? '').matchAll(/\\S+/g)].flatMap(({ index, 0: word }) => {
          const range = document.createRange()
          range.setStart(node, index)
          range.setEnd(node, index + word.length)
          return [...range.getClientRects()]
        }),
      )
    const isCovered = (block) => {
      const button = block.querySelector('.copy').getBoundingClientRect()
      return wordsOf(block.querySelector('code')).some(({ right, top }) => right > button.left && top < button.bottom)
    }
    return {
      rows: new Set(parts.map(middleOf)).size,
      covered: [...document.querySelectorAll('main pre')].filter((one) => one.checkVisibility()).filter(isCovered).length,
      keys: [...document.querySelectorAll('kbd')].filter((one) => one.checkVisibility()).length,
    }
  })()
`

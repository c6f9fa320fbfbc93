import type { Page } from 'playwright-core'
import { DESKTOP, PHONE } from './viewports.ts'

// Which elements of a page are new: of a kind that no earlier page has shown. The kind of an element is
// its name, its class and the names of its relevant attributes, and the name and the class of its parent.
// The constants and functions here return scripts, which run in the page. They share
// `globalThis.elementsOfNewKinds`, the set of the new elements of the page.

/** The attributes on which a style or a rule of axe depends, besides those that name a field. */
const RELEVANT =
  /^(?:aria-.+|role|type|href|src|alt|lang|scope|style|tabindex|disabled|data-method)$/

/** Elements that are kept or removed with all that they contain: their parts name each other. */
const WHOLE =
  'a, button, summary, legend, caption, label, select, h1, h2, h3, h4, h5, h6, p, tr, dl:has(> dt)'

/** Children that are kept with their parent: they name it, or HTML requires them. */
const COMPANIONS = ':scope > :is(h1, h2, h3, h4, h5, h6, summary, legend, caption, dt, dd)'

/** Elements that are kept in every page: rules for a page as a whole need them. */
const FRAME = 'header, nav, main, footer, h1'

const REFERENCES = ['aria-labelledby', 'aria-describedby', 'aria-controls', 'for']

/**
 * Declares `nameOf` and `kindOf` of an element, `knownAt`, which returns the kinds that were shown at a
 * width, and `store`, which stores what was added to them. The kinds are in the session storage: to send
 * them to each page would take longer than to check it.
 */
const KINDS = `
  const nameOf = (element) => element.localName + ' ' + (element.getAttribute('class') ?? '')
  const isRelevant = new Map()
  const kindOf = (element, parentName) => {
    let kind = parentName + ' > ' + nameOf(element)
    for (const name of element.getAttributeNames()) {
      if (!isRelevant.has(name)) isRelevant.set(name, name !== 'class' && ${RELEVANT}.test(name))
      if (isRelevant.get(name)) kind += ' > ' + name
    }
    return kind
  }
  const known = JSON.parse(sessionStorage.kinds ?? '{}')
  const knownAt = (width) => (known[width] = new Set(known[width]))
  const store = () => {
    for (const width in known) known[width] = [...known[width]]
    sessionStorage.kinds = JSON.stringify(known)
  }
`

/**
 * Replaces highlighted code by its text if earlier pages have shown all kinds of its elements. They are a
 * third of the reference. Code scrolls on its own, so that the width of the page does not depend on them.
 */
export const DROP_KNOWN_HIGHLIGHTING = `
  {
    ${KINDS}
    const [wide, narrow] = [knownAt(${DESKTOP.width}), knownAt(${PHONE.width})]
    const isKnown = (element) => {
      const kind = kindOf(element, nameOf(element.parentElement))
      return wide.has(kind) && narrow.has(kind)
    }
    for (const code of document.querySelectorAll('pre code'))
      if ([...code.querySelectorAll('*')].every(isKnown)) code.textContent = code.textContent
  }
`

/** Adds the visible elements whose kind is new at this width to the new elements, and to the known kinds. */
export const noteNewKinds = ({ width }: typeof DESKTOP) => `
  {
    ${KINDS}
    const kinds = knownAt(${width})
    const list = (element, parentName) => {
      const kind = kindOf(element, parentName)
      if (!kinds.has(kind) && element.checkVisibility({ visibilityProperty: true })) {
        kinds.add(kind)
        elementsOfNewKinds.add(element)
      }
      const name = nameOf(element)
      for (const child of element.children) list(child, name)
    }
    globalThis.elementsOfNewKinds ??= new Set()
    list(document.body, '')
    store()
  }
`

/** The elements of kinds that no earlier page of this session has shown at this width, visible or not. */
const unknownAt = ({ width }: typeof DESKTOP) => `
  (() => {
    ${KINDS}
    const kinds = knownAt(${width})
    const isKnown = (element) => kinds.has(kindOf(element, nameOf(element.parentElement)))
    return [...document.querySelectorAll('body *')].filter((element) => !isKnown(element))
  })()
`

/** The elements of new kinds of a page, with what they need. */
export interface Part {
  /** The page, for findings. */
  address: string
  /** What its `<main>` has. */
  html: string
  /** The style sheets and the place of `<main>`: parts can only be checked together if they are the same. */
  frame: string
}

/** Removes what is not needed for the elements of a list. */
const keepOnly = (list: string) => `
  {
    const kept = new Set()
    const whole = new Set()
    const keep = (element) => {
      for (let one = element; one && !kept.has(one); one = one.parentElement) {
        kept.add(one)
        if (one.matches('${WHOLE}')) keepWhole(one)
        for (const companion of one.querySelectorAll('${COMPANIONS}')) keep(companion)
        for (const label of one.labels ?? []) keepWhole(label)
        for (const name of ${JSON.stringify(REFERENCES)})
          for (const id of one.getAttribute(name)?.split(' ') ?? [])
            if (document.getElementById(id)) keepWhole(document.getElementById(id))
      }
    }
    const keepWhole = (element) => {
      if (whole.has(element)) return
      whole.add(element)
      for (const one of [element, ...element.querySelectorAll('*')]) keep(one)
    }
    const dropIn = (element) => {
      for (const child of [...element.children]) kept.has(child) ? dropIn(child) : child.remove()
    }
    for (const element of ${list}) keep(element)
    for (const element of document.querySelectorAll('${FRAME}')) keep(element)
    dropIn(document.body)
  }
`

/** Removes all elements but the new ones, and those whose kind would be new at this width. */
export const keepUnknown = (viewport: typeof DESKTOP) =>
  keepOnly(`[...elementsOfNewKinds, ...${unknownAt(viewport)}]`)

/**
 * Removes what is not needed for the new elements. The result is null if there are none. Its `html` is
 * null if axe must check the page alone: some are not in `<main>`, or a script has set styles.
 */
export const KEEP_NEW_KINDS = `
  (() => {
    if (elementsOfNewKinds.size === 0) return null
    ${keepOnly('elementsOfNewKinds')}
    const main = document.querySelector('main')
    const isInMain = [...elementsOfNewKinds].every((one) => main.contains(one) && one !== main)
    // The pages forbid styles in markup.
    const isMovable = isInMain && !main.querySelector('[style]')
    const frame = [...document.styleSheets].map(({ href }) => href)
    for (let one = main; one; one = one.parentElement) frame.push(one.localName + ' ' + one.className)
    return { html: isMovable ? main.innerHTML : null, frame: frame.join() }
  })()
`

/** Removes what is in `<main>`, and the links of the other parts of a page: they have been checked. */
export const emptyFrame = (page: Page) =>
  page.evaluate(`
    document.adoptedStyleSheets = []
    for (const one of document.querySelectorAll('header, nav, footer, main'))
      if (one.localName === 'main' || !one.querySelector('main')) one.replaceChildren()
  `)

/** Adds parts of other pages to the `<main>` of a page. Ids that the page has, and landmarks, get a number. */
export const addParts = (page: Page, parts: readonly Part[]) =>
  page.evaluate(`
    for (const [i, { address, html }] of ${JSON.stringify(parts)}.entries()) {
      const part = document.createElement('div')
      part.innerHTML = html
      for (const one of [...part.querySelectorAll('[id]')].filter(({ id }) => document.getElementById(id))) {
        const id = one.id
        one.id += '-' + i
        for (const name of ${JSON.stringify([...REFERENCES, 'list', 'form'])})
          for (const other of part.querySelectorAll('[' + name + '~="' + id + '"]'))
            other.setAttribute(
              name,
              other.getAttribute(name).split(' ').map((value) => (value === id ? one.id : value)).join(' '),
            )
        for (const link of part.querySelectorAll('a[href="#' + id + '"]')) link.hash = one.id
      }
      for (const nav of part.querySelectorAll('nav[aria-label]')) nav.ariaLabel += ' ' + i
      for (const child of part.children) child.dataset.page = address
      document.querySelector('main').append(...part.childNodes)
    }
  `)

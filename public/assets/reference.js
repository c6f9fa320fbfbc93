// Marks the operation on the screen in the side bar.

const links = new Map()
for (const link of document.querySelectorAll('.side .operations a')) {
  links.set(link.getAttribute('href').slice(1), link)
}

let current

/** Marks a link of the side bar and scrolls it into view. */
function mark(id) {
  const link = links.get(id)
  if (!link || link === current) return
  current?.removeAttribute('aria-current')
  link.setAttribute('aria-current', 'location')
  current = link
  const side = link.closest('.side')
  if (!side) return
  const { top, bottom } = link.getBoundingClientRect()
  const frame = side.getBoundingClientRect()
  if (top < frame.top + 60 || bottom > frame.bottom - 60) {
    side.scrollBy({ top: top - frame.top - frame.height / 3, behavior: 'instant' })
  }
}

const sections = [...links.keys()].map((id) => document.getElementById(id))

/** Marks the current section: the last one that begins in the upper third of the window. */
function update() {
  const line = innerHeight / 3
  const isAtEnd = innerHeight + scrollY >= document.documentElement.scrollHeight - 2
  const begun = sections.filter((section) => section.getBoundingClientRect().top <= line)
  const last = isAtEnd ? sections.at(-1) : begun.at(-1)
  if (last) mark(last.id)
}

let scheduled = false
function schedule() {
  if (scheduled) return
  scheduled = true
  requestAnimationFrame(() => {
    scheduled = false
    update()
  })
}

addEventListener('scroll', schedule, { passive: true })
addEventListener('resize', schedule)
update()

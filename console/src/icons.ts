// Icons of the navigation, by address.
import archive from './icons/archive.svg?raw'
import badgeCheck from './icons/badge-check.svg?raw'
import gauge from './icons/gauge.svg?raw'
import gitMerge from './icons/git-merge.svg?raw'
import heartPulse from './icons/heart-pulse.svg?raw'
import idCard from './icons/id-card.svg?raw'
import library from './icons/library.svg?raw'
import listChecks from './icons/list-checks.svg?raw'
import rss from './icons/rss.svg?raw'
import scale from './icons/scale.svg?raw'
import scrollText from './icons/scroll-text.svg?raw'
import slidersHorizontal from './icons/sliders-horizontal.svg?raw'
import store from './icons/store.svg?raw'
import upload from './icons/upload.svg?raw'
import userCog from './icons/user-cog.svg?raw'
import users from './icons/users.svg?raw'

export const ICONS: Record<string, string> = {
  '/console': gauge,
  '/console/approvals': badgeCheck,
  '/console/catalogue': library,
  '/console/matches': gitMerge,
  '/console/price-reviews': scale,
  '/console/sources': rss,
  '/console/imports': upload,
  '/console/dumps': archive,
  '/console/listings': store,
  '/console/accounts': users,
  '/console/audit': scrollText,
  '/console/health': heartPulse,
  '/console/settings': slidersHorizontal,
  '/console/people': idCard,
  '/console/my-account': userCog,
  '/console/first-steps': listChecks,
}

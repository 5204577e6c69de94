# Installation and find_package(Echo).
include(GNUInstallDirs)

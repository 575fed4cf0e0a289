// The same for sources of tests.
#pragma once

#include <doctest/doctest.h>

#include "../../precompiled/ballast_precompiled.h"

#pragma once

// All techniques.
